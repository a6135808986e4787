// The host's events in our own form. Pure: objects in, objects out; whatever the host leaves out is left out here too.

const DIALOGUE_MESSAGES = 12;
const DIALOGUE_CHARS = 8_000;
const WINDOW_CHARS = 65_536;
const TOOL_CHARS = 4_000;
const LEFT_OVER = "[Queued user message from a previous active turn;"; // the host's head of an earlier message before this one
const UNATTENDED = new Set(["heartbeat", "cron", "memory"]);
const SPOKEN = new Set(["user", "assistant", "toolResult"]); // the host also keeps notes of its own in the window

/** Runs that nobody typed: nothing is recalled for them and nothing of them is kept. */
export function unattended(ctx) {
  return UNATTENDED.has(ctx.trigger);
}

/** before_prompt_build → prompt_build. owner: whether the sender is the owner, null when nobody knows. child: of a sub-agent. speaker: for whom it works. */
export function promptBuild(event, ctx, { owner = null, child = {}, speaker, at }) {
  const messages = list(event.messages);
  const texts = messages.map(spoken).filter(({ text }) => text);
  return compact({
    ...where(ctx),
    prompt: typeof event.currentUserMessage === "string" ? event.currentUserMessage : (event.prompt ?? ""),
    dialogue: texts
      .filter(({ role }) => role === "user" || role === "assistant")
      .slice(-DIALOGUE_MESSAGES)
      .map(({ role, text }) => ({ role, text: text.slice(0, DIALOGUE_CHARS) })),
    window_runs: [...new Set(messages.map(runOf).filter(Boolean))],
    window_text: texts.map(({ text }) => text).join("\n").slice(-WINDOW_CHARS),
    sender: sender(ctx, owner),
    project: project(ctx),
    ...child,
    speaker,
    at,
  });
}

/** before_agent_run → turn_begin: the message alone, in the form of turn_end. known: { prompt, at, owner, project } of the run. */
export function turnBegin(ctx, { prompt, at, owner, project: path }) {
  return compact({
    ...where(ctx),
    messages: [{ role: "user", content: prompt, timestamp: at }],
    sender: sender(ctx, owner),
    project: path,
    at,
  });
}

/** agent_end → turn_end: this turn's messages only. known: { window, owner, project, provenance, reminded, prompt } of the run. */
export function turnEnd(event, ctx, { known = {}, child = {}, speaker, fallbackWindow = 0, at }) {
  const messages = list(event.messages);
  const runId = event.runId ?? ctx.runId;
  const turn = ofThisTurn(messages, runId).filter((m) => SPOKEN.has(m.role));
  return compact({
    ...where(ctx),
    run_id: runId,
    provenance: provenance(ctx) ?? known.provenance,
    messages: turn.map((message, i) => lean(i === 0 ? withoutLeftOver(message, known.prompt) : message)),
    usage: usage(messages, known.window || fallbackWindow),
    success: event.success,
    sender: sender(ctx, known.owner ?? ownerOf(turn)),
    project: known.project,
    reminded: known.reminded,
    ...child,
    speaker,
    at: startOf(turn) ?? at,
  });
}

/** Any event that is about a session: session_end, before_compaction, after_compaction. */
export function ofSession(event, ctx) {
  return compact({
    agent: ctx.agentId ?? agentOf(sessionKey(event, ctx)),
    session_key: sessionKey(event, ctx),
    session_id: ctx.sessionId ?? event.sessionId,
    reason: event.reason,
  });
}

/** The agent that a session key names ("agent:<id>:…"); "main" when it names none. */
export function agentOf(key) {
  return /^agent:([^:]+):/.exec(key ?? "")?.[1] ?? "main";
}

/** The project of the run: the one the host names, unless that is just the agent's workspace. */
export function project(ctx) {
  const keys = list(ctx.activeProjectKeys).filter((key) => key !== `path:${ctx.workspaceDir}`);
  return keys.length === 1 ? keys[0] : undefined;
}

/** Where the message came from when no person typed it; only the prompt's event carries it. */
export function provenance(ctx) {
  const { kind, sourceTool, sourceSessionKey } = ctx.inputProvenance ?? {};
  return kind ? compact({ kind, sourceTool, sourceSessionKey }) : undefined;
}

function where(ctx) {
  return {
    run_id: ctx.runId,
    agent: ctx.agentId ?? agentOf(ctx.sessionKey),
    session_key: ctx.sessionKey,
    session_id: ctx.sessionId,
    trigger: ctx.trigger,
    provenance: provenance(ctx),
    channel: ctx.channel ?? ctx.messageProvider,
    workspace: ctx.workspaceDir,
  };
}

function sender(ctx, owner) {
  const person = ctx.channelContext?.sender ?? {};
  return compact({ id: ctx.senderId ?? person.id, name: person.name ?? person.displayName, owner: owner ?? null });
}

/**
 * The messages of the turn, its user message first. The host marks that one with the run's id; where it does not
 * (one-shots, queued messages), history is what carries another run's id, and the turn is what follows it.
 */
export function ofThisTurn(messages, runId) {
  const marked = messages.findIndex((m) => m.role === "user" && m.idempotencyKey === `${runId}:user`);
  if (marked >= 0) return messages.slice(marked);
  const history = messages.findLastIndex((m) => m.__openclaw?.runId && m.__openclaw.runId !== runId);
  const first = messages.findIndex((m, i) => i > history && m.role === "user");
  if (history >= 0 && first >= 0) return messages.slice(first);
  const last = messages.findLastIndex((m) => m.role === "user");
  return last >= 0 ? messages.slice(last) : messages;
}

/** The message as it was written: before it the host repeats one that was never answered, which has a turn of its own. */
function withoutLeftOver(message, prompt) {
  return prompt && textOf(message.content).startsWith(LEFT_OVER) ? { ...message, content: prompt } : message;
}

/** Prompt tokens of the last model call and the window, null where the host tells neither. */
function usage(messages, window) {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = messages.findLast((m) => m.role === "assistant")?.usage ?? {};
  const tokens = input + cacheRead + cacheWrite;
  return tokens > 0 && window > 0 ? { tokens, context_window: window } : null;
}

function ownerOf(turn) {
  return turn[0]?.__openclaw?.senderIsOwner;
}

function startOf(turn) {
  return typeof turn[0]?.timestamp === "number" ? turn[0].timestamp : undefined;
}

function sessionKey(event, ctx) {
  return ctx.sessionKey ?? event.sessionKey;
}

/** The run a message of the window belongs to, where the host says. */
function runOf(message) {
  return message.__openclaw?.runId ?? /^(.+):user$/.exec(message.idempotencyKey ?? "")?.[1];
}

function spoken(message) {
  return { role: message.role, text: textOf(message.content) };
}

function textOf(content) {
  if (typeof content === "string") return content;
  return list(content)
    .filter((part) => part?.type === "text" && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n");
}

/** A message without what memory never reads: images, usage, the details of tools. */
function lean(message) {
  const { role, timestamp, idempotencyKey, stopReason, errorMessage, toolName, isError } = message;
  const short = role === "toolResult";
  return compact({
    role,
    timestamp,
    idempotencyKey,
    stopReason,
    errorMessage,
    toolName,
    isError,
    __openclaw: message.__openclaw && sentBy(message.__openclaw),
    content: leanContent(message.content, short ? TOOL_CHARS : Infinity),
  });
}

/** Who sent a user message, as far as the host says: another person's can be steered into the turn. */
function sentBy({ senderIsOwner, senderId, senderName }) {
  return compact({ senderIsOwner, senderId, senderName });
}

function leanContent(content, chars) {
  if (typeof content === "string") return content.slice(0, chars);
  return list(content).map((part) => {
    if (part?.type === "text") return { type: "text", text: String(part.text ?? "").slice(0, chars) };
    if (part?.type === "toolCall") return { type: "toolCall", name: part.name };
    return { type: part?.type ?? "unknown" };
  });
}

function list(value) {
  return Array.isArray(value) ? value.filter((item) => item !== null && item !== undefined) : [];
}

function compact(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

// Host event → our event. Every handler catches everything: a memory that fails must never cost a reply.

import { randomUUID } from "node:crypto";
import { ofSession, project, promptBuild, provenance, turnBegin, turnEnd, unattended } from "./events.js";
import { isIndirect, isOwner } from "./senders.js";
import { child, claim, count, forgetRun, knownSpeaker, learnSender, learnSpeaker, noteChild, noteSpawn, reset, run, shared } from "./shared.js";

const REPLACED = "plugin replacement";
const CANARY = /neuralstream-canary-[0-9a-z-]+/i;

/** Register our hooks with the host. memory: see memory.js. */
export function registerHooks(api, memory) {
  const registration = {};
  const on = (name, handler) => api.on(name, guarded(api, name, handler));

  // fired 0.2 s (a gateway) to 10 s (a one-shot) before the prompt is built: the process gets ready meanwhile
  on("message_received", () => memory.warm());
  on("session_start", () => memory.warm());
  on("before_model_resolve", (_event, ctx) => void (unattended(ctx) || memory.warm()));

  on("before_prompt_build", async (event, ctx) => {
    if (unattended(ctx) || !claim(ctx.runId, registration)) return undefined;
    Object.assign(run(ctx.runId), { project: project(ctx), provenance: provenance(ctx) });
    const owner = isOwner(api, ctx);
    const indirect = isIndirect(ctx.sessionKey, provenance(ctx));
    const asked = promptBuild(event, ctx, {
      owner,
      child: child(ctx.sessionKey, event.prompt),
      speaker: indirect ? knownSpeaker(ctx.sessionKey) : undefined,
      at: Date.now(),
    });
    if (!indirect) learnSpeaker(ctx.sessionKey, { channel: asked.channel, sender: asked.sender });
    Object.assign(run(ctx.runId), { prompt: asked.prompt, at: asked.at, indirect });
    const { text, brief } = await memory.recall(asked);
    run(ctx.runId).reminded = text !== undefined; // else the session's brief is still due
    const placed = { ...(text && { appendContext: text }), ...(brief && { appendSystemContext: brief }) };
    return Object.keys(placed).length > 0 ? placed : undefined;
  });

  on("before_agent_run", (event, ctx) => {
    const known = run(ctx.runId);
    if (typeof event.senderIsOwner === "boolean") known.owner = event.senderIsOwner;
    // the first moment at which the host says whose message it is; nobody waits for it, and the model is asked meanwhile
    if (known.prompt && !known.indirect && !unattended(ctx)) void memory.tell("turn_begin", turnBegin(ctx, known));
    if (known.owner === undefined) return;
    if (isIndirect(ctx.sessionKey, known.provenance)) return; // it says nothing of who spoke there
    learnSender(ctx.channel, ctx.senderId, known.owner);
    const speaker = knownSpeaker(ctx.sessionKey);
    if (speaker) learnSpeaker(ctx.sessionKey, { ...speaker, sender: { ...speaker.sender, owner: known.owner } });
  });

  on("model_call_started", (event) => {
    if (event.contextTokenBudget > 0) run(event.runId).window = event.contextTokenBudget;
  });

  on("before_tool_call", (event, ctx) => {
    if (event.toolName === "sessions_spawn") noteSpawn(ctx.sessionKey, event.params);
  });
  on("subagent_spawned", (event, ctx) => {
    noteChild(ctx.childSessionKey ?? event.childSessionKey, ctx.requesterSessionKey, event.label);
  });

  on("llm_input", async (event) => {
    const marker = CANARY.exec(`${event.prompt ?? ""}\n${event.systemPrompt ?? ""}`)?.[0]; // beside the message, or in the brief
    if (marker) await memory.lastWord("seen", { text: marker });
  });

  on("agent_end", async (event, ctx) => {
    const runId = event.runId ?? ctx.runId;
    const known = run(runId);
    forgetRun(runId);
    if (unattended(ctx)) return;
    const fallbackWindow = known.window ? 0 : usualWindow(api, ctx);
    const indirect = isIndirect(ctx.sessionKey, provenance(ctx) ?? known.provenance);
    const speaker = indirect ? knownSpeaker(ctx.sessionKey) : undefined;
    const told = turnEnd(event, ctx, { known, child: child(ctx.sessionKey), speaker, fallbackWindow, at: Date.now() });
    await memory.tell("turn_end", told);
  });

  on("before_compaction", (event, ctx) => memory.tell("before_compaction", ofSession(event, ctx)));
  on("after_compaction", (event, ctx) => memory.tell("after_compaction", ofSession(event, ctx)));
  on("session_end", (event, ctx) => {
    const ended = { ...ofSession(event, ctx), event_id: randomUUID() }; // an answer that came late makes us say it again
    return event.reason === "shutdown" ? memory.lastWord("session_end", ended) : memory.tell("session_end", ended);
  });

  // a handler of gateway_start that hangs or rejects would stop every turn of the gateway
  on("gateway_start", () => memory.warm());
  on("gateway_stop", async (event) => {
    if (event?.reason === REPLACED) return stopped(api); // our service has stopped already
    await memory.lastWord("gateway_stop", { reason: event?.reason ?? "" }); // session_end still comes after this
  });
}

/** The service exists for its stop(), which comes last when the gateway goes; the process itself lives on. */
export function registerService(api) {
  api.registerService?.({ id: "neuralstream", start: () => {}, stop: () => stopped(api) });
}

/** Let go of everything, unless a newer registration has taken over. */
function stopped(api) {
  const live = shared().api;
  if (live === null || live === api) reset();
}

function guarded(api, name, handler) {
  return async (event, ctx) => {
    try {
      return await handler(event ?? {}, ctx ?? {});
    } catch (error) {
      count("bridge.failed");
      api.logger?.warn?.(`neuralstream: ${name}: ${error?.message}`);
      return undefined;
    }
  };
}

/** The context window as the host remembers it from earlier turns, 0 when it does not. */
function usualWindow(api, ctx) {
  try {
    const target = { agentId: ctx.agentId ?? "main", sessionKey: ctx.sessionKey };
    return api.runtime.agent.session.getSessionEntry(target)?.contextTokens ?? 0;
  } catch {
    return 0; // an older or newer host
  }
}

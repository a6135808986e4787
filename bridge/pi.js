// NeuralStream inside the coding agent pi (@mariozechner/pi-coding-agent): the same memory, by pi's own extension API.
//
//   pi -e "$(neuralstream admin pi path)"          or, for good: neuralstream admin pi install

import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promptBuild, turnBegin, turnEnd } from "./events.js";
import { Memory } from "./memory.js";
import { reset } from "./shared.js";

const ENDED = { new: "new", quit: "shutdown", resume: "idle", fork: "idle" };
const REMEMBERED_RUNS = 200;

/** Register with pi. Every handler catches everything: a memory that fails must never cost an answer. */
export default function neuralstream(pi) {
  const memory = new Memory({ rootDir: dirname(dirname(fileURLToPath(import.meta.url))), logger: quiet }, stateDir());
  const on = (name, handler) => pi.on(name, guarded(handler));
  let runs = []; // of the present window, oldest first
  let turn = null; // the prompt that is being answered: { runId, block, reminded, usage }

  on("session_start", () => {
    runs = [];
    turn = null;
    memory.warm();
  });

  on("before_agent_start", async (event, ctx) => {
    turn = { runId: randomUUID(), block: "", at: Date.now() };
    const asked = promptBuild({ prompt: event.prompt, messages: window(ctx) }, where(ctx, turn), { owner: true, at: turn.at });
    const { text, brief } = await memory.recall({ ...asked, window_runs: runs });
    void memory.tell("turn_begin", turnBegin(where(ctx, turn), { prompt: event.prompt, at: turn.at, owner: true }));
    turn.reminded = text !== undefined;
    turn.block = [brief, text].filter(Boolean).join("\n\n");
  });

  // pi keeps what before_agent_start returns in the session; a block for this turn alone belongs into the request
  on("context", (event) => {
    const at = event.messages.findLastIndex((message) => message.role === "user");
    if (!turn?.block || at < 0) return undefined;
    const messages = [...event.messages];
    messages[at] = { ...messages[at], content: [...parts(messages[at].content), { type: "text", text: turn.block }] };
    return { messages };
  });

  on("turn_end", (_event, ctx) => {
    const usage = ctx.getContextUsage();
    if (turn && usage?.tokens) turn.usage = { tokens: usage.tokens, context_window: usage.contextWindow };
  });

  on("agent_end", async (event, ctx) => {
    const ended = turn;
    turn = null;
    if (!ended) return;
    runs = [...runs, ended.runId].slice(-REMEMBERED_RUNS);
    const told = turnEnd({ messages: event.messages, runId: ended.runId, success: true }, where(ctx, ended), {
      known: { owner: true, reminded: ended.reminded },
      at: ended.at,
    });
    await memory.tell("turn_end", { ...told, usage: ended.usage ?? told.usage });
  });

  on("session_before_compact", (_event, ctx) => memory.tell("before_compaction", session(ctx)));
  on("session_compact", (_event, ctx) => {
    runs = [];
    return memory.tell("after_compaction", session(ctx));
  });

  on("session_shutdown", async (event, ctx) => {
    const reason = ENDED[event.reason];
    if (reason) await memory.lastWord("session_end", { ...session(ctx), reason, event_id: randomUUID() });
    reset();
  });
}

const quiet = { warn: (text) => process.env.NEURALSTREAM_DEBUG && console.error(text) };

/** Whose memory: the agent of OpenClaw that pi shares it with. */
function agent() {
  return process.env.NEURALSTREAM_AGENT || "main";
}

function stateDir() {
  const host = process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");
  return process.env.NEURALSTREAM_STATE_DIR || join(host, "neuralstream");
}

function where(ctx, { runId }) {
  const { agent: agentId, session_key: sessionKey, session_id: sessionId } = session(ctx);
  return { runId, agentId, sessionKey, sessionId, trigger: "user", channel: "cli", senderId: "pi" };
}

function session(ctx) {
  const id = ctx.sessionManager.getSessionId();
  return { agent: agent(), session_key: `agent:${agent()}:pi:${id}`, session_id: id };
}

/** The messages that the present branch of the session shows. */
function window(ctx) {
  return ctx.sessionManager.getBranch().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

function parts(content) {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function guarded(handler) {
  return async (event, ctx) => {
    try {
      return await handler(event ?? {}, ctx);
    } catch (error) {
      quiet.warn(`neuralstream: ${error?.message}`);
      return undefined;
    }
  };
}

// OpenClaw's memory slot, where the owner has given it to us: its two tools, and its section of the prompt, are ours then.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { whoAsks } from "./corpus.js";

const SEARCH = "memory_search";
const GET = "memory_get";
const MEMORY = "memory";
const MOST = 50;

const text = { type: "string", minLength: 1 };
const whole = { type: "integer", minimum: 1 };

/** The tools that the host's own memory plugin has, under the same names, with the same answers. */
const SLOT_TOOLS = [
  {
    name: SEARCH,
    label: "Memory Search",
    description:
      "Search long-term memory before answering questions about prior work, decisions, dates, people, preferences or " +
      "to-dos: what was said in earlier conversations, and the Markdown files of the workspace (MEMORY.md, memory/, notes/, bank/). " +
      "Each result has a path that memory_get reads. When a warning comes with the results, tell the user.",
    properties: { query: text, maxResults: whole, minScore: { type: "number" }, corpus: { type: "string" } },
    required: ["query"],
    ask: search,
  },
  {
    name: GET,
    label: "Memory Get",
    description:
      "Read what memory_search found: lines of a memory file, or a remembered sentence by its path (gems/…). status=ok: " +
      "read; status=not_found: nothing is there; status=error: memory could not be asked.",
    properties: { path: text, from: whole, lines: whole, corpus: { type: "string" } },
    required: ["path"],
    ask: get,
  },
];

/** Whether the manifest that the host has installed makes us its memory plugin. */
export function holdsSlot(rootDir) {
  try {
    return JSON.parse(readFileSync(join(rootDir, "openclaw.plugin.json"), "utf8")).kind === MEMORY;
  } catch {
    return false; // a layout we do not know: we stay beside the host's own memory
  }
}

/** Register what the slot brings; nothing where it is not ours. */
export function registerSlot(api, memory) {
  if (!holdsSlot(api.rootDir)) return;
  api.registerMemoryCapability?.({
    promptBuilder: section,
    flushPlanResolver: () => null, // every turn is kept when it ends: nothing has to be saved before a compaction
    deterministicRecallToolName: SEARCH,
  });
  for (const tool of SLOT_TOOLS) api.registerTool?.((ctx) => slotTool(tool, ctx ?? {}, memory), { name: tool.name });
}

/** The constant words of the prompt's memory section. Never throws: the host would end the turn. */
export function section({ availableTools, citationsMode } = {}) {
  if (!availableTools?.has?.(SEARCH)) return [];
  const lines = [
    "## Memory Recall",
    "What matters to a message is put beside it from long-term memory, in a neuralstream-memory block. Before answering anything about prior " +
      `work, decisions, dates, people, preferences or to-dos that is not there: run ${SEARCH}` +
      `${availableTools.has(GET) ? `, then ${GET} to read what it found` : ""}. If you are still not sure, say you checked.`,
  ];
  if (citationsMode !== "off") lines.push("Citations: include Source: <path#line> when it helps the user verify what was found.");
  return [...lines, ""];
}

function slotTool({ name, label, description, properties, required, ask }, ctx, memory) {
  return {
    name,
    label,
    description,
    parameters: { type: "object", properties, required, additionalProperties: false },
    async execute(_callId, params) {
      return said(await ask(memory, params ?? {}, asker(ctx)));
    },
  };
}

async function search(memory, { query, maxResults, minScore }, asked) {
  if (!asked) return { results: [], provider: "neuralstream" };
  try {
    const { results } = await memory.ask("memory.search", { ...asked, query, limit: Math.min(maxResults ?? 10, MOST) });
    return { results: results.filter(({ score }) => score >= (minScore ?? 0)), provider: "neuralstream" };
  } catch (error) {
    return { results: [], provider: "neuralstream", disabled: true, warning: away(error), action: "neuralstream doctor" };
  }
}

async function get(memory, { path, from, lines }, asked) {
  if (!asked) return { status: "not_found", path };
  try {
    const { found } = await memory.ask("memory.get", { ...asked, lookup: path, from_line: from ?? 0, line_count: lines ?? 0 });
    if (!found) return { status: "not_found", path };
    return { status: "ok", path: found.path, text: found.content, from: found.fromLine, lines: found.lineCount };
  } catch (error) {
    return { status: "error", path, error: away(error), action: "neuralstream doctor" };
  }
}

function away(error) {
  return `Memory is not available right now: ${error.message}`;
}

/** Whose memory a tool asks; undefined where nobody knows who speaks. What the host says of the sender wins. */
function asker(ctx) {
  const asked = whoAsks({ agentId: ctx.agentId, agentSessionKey: ctx.sessionKey, sandboxed: ctx.sandboxed });
  if (ctx.senderIsOwner !== false) return asked;
  const channel = ctx.messageChannel ?? ctx.channel ?? asked?.channel ?? "unknown";
  const speaker = { channel, sender: { id: ctx.requesterSenderId ?? ctx.senderId ?? "unknown", owner: false } };
  return { ...whoAsks({ agentId: ctx.agentId, sandboxed: ctx.sandboxed }), session_key: ctx.sessionKey ?? "", ...speaker };
}

function said(answer) {
  return { content: [{ type: "text", text: JSON.stringify(answer, null, 2) }], details: answer };
}

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import plugin from "../../bridge/index.js";
import { reset } from "../../bridge/shared.js";
import { section } from "../../bridge/slot.js";
import { fakeHost, PATIENT, Peer, stateDir } from "./peer.mjs";

beforeEach(() => reset());

const GEM = { path: "gems/1f3a9c20", score: 0.8, snippet: "You drink tea." };
const DIM = { path: "memory/a.md", score: 0.2, snippet: "Tea." };

async function stage(t, answers = {}, { kind = "memory", away = false } = {}) {
  const folder = stateDir(t);
  const peer = new Peer(folder, answers);
  if (!away) await peer.serve();
  t.after(() => (reset(), peer.kill()));
  const host = fakeHost({ state: join(folder, ".."), config: { python: "/nowhere/python", ...PATIENT } });
  host.api.rootDir = join(folder, "plugin");
  mkdirSync(host.api.rootDir, { recursive: true });
  writeFileSync(join(host.api.rootDir, "openclaw.plugin.json"), JSON.stringify({ id: "neuralstream", kind }));
  const capabilities = [];
  host.api.registerMemoryCapability = (capability) => capabilities.push(capability);
  plugin.register(host.api);
  const tool = (name, ctx) => host.registered.tools.find((one) => one.name === name)?.factory(ctx);
  return { host, peer, capabilities, tool };
}

const owner = { agentId: "main", sessionKey: "agent:main:main", senderIsOwner: true };

test("without the slot the host's tools and its prompt stay its own", async (t) => {
  const { capabilities, tool } = await stage(t, {}, { kind: null });
  assert.deepEqual(capabilities, []);
  assert.equal(tool("memory_search", owner), undefined);
});

test("with the slot its search is ours, and what is too weak is left out", async (t) => {
  const { peer, tool, capabilities } = await stage(t, { "memory.search": () => ({ results: [GEM, DIM] }) });
  assert.equal(capabilities.length, 1);
  assert.equal(capabilities[0].flushPlanResolver(), null);
  const answer = await tool("memory_search", owner).execute("1", { query: "drink", maxResults: 500, minScore: 0.5, corpus: "all" });
  assert.deepEqual(answer.details.results, [GEM]);
  assert.deepEqual(JSON.parse(answer.content[0].text), answer.details);
  const asked = await peer.received("memory.search");
  assert.deepEqual([asked.query, asked.limit, asked.agent, asked.session_key], ["drink", 50, "main", "agent:main:main"]);
});

test("what was found is read line by line", async (t) => {
  const found = { path: "memory/a.md", content: "x", fromLine: 3, lineCount: 1 };
  const { peer, tool } = await stage(t, { "memory.get": ({ lookup }) => ({ found: lookup === "memory/a.md" ? found : null }) });
  const read = await tool("memory_get", owner).execute("1", { path: "memory/a.md", from: 3, lines: 1 });
  assert.deepEqual(read.details, { status: "ok", path: "memory/a.md", text: "x", from: 3, lines: 1 });
  assert.equal((await peer.received("memory.get")).from_line, 3);
  const missed = await tool("memory_get", owner).execute("2", { path: "memory/b.md" });
  assert.deepEqual(missed.details, { status: "not_found", path: "memory/b.md" });
});

test("a stranger asks his own memory, and a group in which nobody was heard none", async (t) => {
  const { peer, tool } = await stage(t, { "memory.search": () => ({ results: [GEM] }) });
  const group = { agentId: "main", sessionKey: "agent:main:telegram:group:1", messageChannel: "telegram" };
  const unknown = await tool("memory_search", group).execute("1", { query: "salary" });
  assert.deepEqual(unknown.details.results, []);
  await tool("memory_search", { ...group, senderIsOwner: false, requesterSenderId: "7" }).execute("2", { query: "salary" });
  const { channel, sender } = await peer.received("memory.search");
  assert.deepEqual({ channel, sender }, { channel: "telegram", sender: { id: "7", owner: false } });
});

test("a process that does not answer is an answer with a warning, never an error of the turn", async (t) => {
  const { tool } = await stage(t, {}, { away: true });
  const searched = await tool("memory_search", owner).execute("1", { query: "drink" });
  assert.equal(searched.details.disabled, true);
  assert.match(searched.details.warning, /not available/);
  const read = await tool("memory_get", owner).execute("1", { path: "memory/a.md" });
  assert.equal(read.details.status, "error");
});

test("its section of the prompt is constant, follows the tools there are, and never throws", () => {
  const both = { availableTools: new Set(["memory_search", "memory_get"]), citationsMode: "auto" };
  assert.deepEqual(section(both), section(both));
  assert.match(section(both).join("\n"), /## Memory Recall[\s\S]*memory_get[\s\S]*Citations/);
  assert.doesNotMatch(section({ ...both, citationsMode: "off" }).join("\n"), /Citations/);
  assert.deepEqual(section({ availableTools: new Set() }), []);
  assert.deepEqual(section(undefined), []);
});

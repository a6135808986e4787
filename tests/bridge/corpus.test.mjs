import assert from "node:assert/strict";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import plugin from "../../bridge/index.js";
import { reset, shared } from "../../bridge/shared.js";
import { fakeHost, PATIENT, Peer, stateDir } from "./peer.mjs";

beforeEach(() => reset());

const GEM = { corpus: "neuralstream", path: "gems/1f3a9c20", score: 0.8, snippet: "You drink tea." };

async function stage(t, answers = {}, options = {}) {
  const folder = stateDir(t);
  const peer = new Peer(folder, { prompt_build: () => ({ text: "" }), ...answers });
  await peer.serve();
  t.after(() => (reset(), peer.kill()));
  const host = fakeHost({ state: join(folder, ".."), config: PATIENT, ...options });
  plugin.register(host.api);
  return { host, peer, corpus: host.registered.corpora[0] };
}

const says = (host, ctx) => host.fire("before_prompt_build", { prompt: "hello", messages: [] }, { runId: "r1", trigger: "user", agentId: "main", ...ctx });

test("a search of the host finds what we remember, for the agent and session that search", async (t) => {
  const { corpus, peer } = await stage(t, { "memory.search": () => ({ results: [GEM] }) });
  const found = await corpus.search({ query: "drink", maxResults: 5, agentId: "work", agentSessionKey: "agent:work:main" });
  assert.deepEqual(found, [GEM]);
  assert.deepEqual(await peer.received("memory.search"), {
    agent: "work", session_key: "agent:work:main", sandboxed: false, query: "drink", limit: 5,
  });
});

test("a search carries who speaks in its session", async (t) => {
  const { host, corpus, peer } = await stage(t, { "memory.search": () => ({ results: [] }) });
  await says(host, { sessionKey: "agent:main:telegram:group:1", channel: "telegram", senderId: "7" });
  await host.fire("before_agent_run", { senderIsOwner: false }, { runId: "r1", sessionKey: "agent:main:telegram:group:1", channel: "telegram", senderId: "7" });
  await corpus.search({ query: "salary", agentSessionKey: "agent:main:telegram:group:1" });
  const { channel, sender } = await peer.received("memory.search");
  assert.deepEqual({ channel, sender }, { channel: "telegram", sender: { id: "7", owner: false } });
});

test("a group in which nobody was heard is shown nothing", async (t) => {
  const { corpus, peer } = await stage(t, { "memory.search": () => ({ results: [GEM] }) });
  assert.deepEqual(await corpus.search({ query: "drink", agentSessionKey: "agent:main:telegram:group:1" }), []);
  assert.equal(await corpus.get({ lookup: "gems/1f3a9c20", agentSessionKey: "agent:main:telegram:group:1" }), null);
  assert.equal(peer.heard.some(({ method }) => method.startsWith("memory.")), false);
});

test("what was found can be read", async (t) => {
  const { corpus, peer } = await stage(t, { "memory.get": () => ({ found: { corpus: "neuralstream", path: "memory/a.md", content: "x", fromLine: 3, lineCount: 1 } }) });
  const found = await corpus.get({ lookup: "memory/a.md", fromLine: 3, lineCount: 1, agentId: "main", sandboxed: true });
  assert.equal(found.content, "x");
  const asked = await peer.received("memory.get");
  assert.deepEqual([asked.lookup, asked.from_line, asked.line_count, asked.sandboxed], ["memory/a.md", 3, 1, true]);
});

test("a search that fails finds nothing, and is counted", async (t) => {
  const refuse = () => { throw { code: "vendor-away", message: "no" }; };
  const { corpus } = await stage(t, { "memory.search": refuse, "memory.get": refuse });
  assert.deepEqual(await corpus.search({ query: "drink" }), []);
  assert.equal(await corpus.get({ lookup: "gems/1f3a9c20" }), null);
  assert.equal(shared().counters.get("search.failed"), 2);
});

test("a question without words is not asked", async (t) => {
  const { corpus } = await stage(t, { "memory.search": () => ({ results: [GEM] }) });
  assert.deepEqual(await corpus.search({ query: "  " }), []);
  assert.deepEqual(await corpus.search(undefined), []);
});

test("a host without corpora is left alone", async (t) => {
  const host = fakeHost({ state: join(stateDir(t), "..") });
  delete host.api.registerMemoryCorpusSupplement;
  plugin.register(host.api);
});

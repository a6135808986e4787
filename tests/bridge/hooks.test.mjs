import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { readServing } from "../../bridge/client.js";
import plugin from "../../bridge/index.js";
import { TOOLS } from "../../bridge/tools.js";
import { reset, shared } from "../../bridge/shared.js";
import { fakeHost, PATIENT, Peer, SILENT, stateDir, until } from "./peer.mjs";

beforeEach(() => reset());

const ctx = { runId: "r1", agentId: "main", sessionKey: "agent:main:s", trigger: "user", channel: "webchat", senderId: "cli" };
const turn = { runId: "r1", messages: [{ role: "user", content: "q", idempotencyKey: "r1:user" }, { role: "assistant", content: "a" }] };

async function stage(t, answers = {}, { running = true, config = {}, ...host } = {}) {
  const folder = stateDir(t);
  const state = join(folder, "..");
  const peer = new Peer(folder, answers);
  if (running) await peer.serve();
  const python = join(state, "no-python-here");
  const hosted = fakeHost({ state, config: { python, ...PATIENT, ...config }, ...host });
  plugin.register(hosted.api);
  t.after(() => (reset(), peer.kill()));
  return { peer, host: hosted, folder };
}

const spooled = (folder) => {
  const names = readdirSync(join(folder, "spool")).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, "spool", name), "utf8")));
};

test("what Python remembers is appended to the user's message, what stands in the window to the system's part", async (t) => {
  const answers = [{ text: "<memory>tea</memory>", brief: "<brief>" }, { text: "<memory>tea</memory>", brief: "" }, { text: "", brief: "<brief>" }];
  const { host } = await stage(t, { prompt_build: () => answers.shift() });
  const ask = async () => (await host.fire("before_prompt_build", { prompt: "what do I drink?" }, ctx))[0];
  assert.deepEqual(await ask(), { appendContext: "<memory>tea</memory>", appendSystemContext: "<brief>" });
  assert.deepEqual(await ask(), { appendContext: "<memory>tea</memory>" });
  assert.deepEqual(await ask(), { appendSystemContext: "<brief>" });
});

for (const [over, event] of [["session_end", { reason: "new" }], ["after_compaction", {}]]) {
  test(`where no answer comes in time the window's brief stands all the same, for who it was made, until ${over}`, async (t) => {
    const answers = [{ text: "tea", brief: "<brief>" }];
    const { host } = await stage(t, { prompt_build: () => answers.shift() ?? SILENT }, { config: { recall_deadline_ms: 40 } });
    const ask = async (who = {}) => (await host.fire("before_prompt_build", { prompt: "q" }, { ...ctx, ...who }))[0];
    assert.deepEqual(await ask(), { appendContext: "tea", appendSystemContext: "<brief>" });
    assert.deepEqual(await ask(), { appendSystemContext: "<brief>" });
    assert.equal(await ask({ channel: "telegram", senderId: "666" }), undefined);
    assert.equal(await ask({ sessionKey: "agent:main:s2" }), undefined);
    await host.fire(over, { sessionKey: ctx.sessionKey, ...event }, ctx);
    assert.equal(await ask(), undefined);
  });
}

test("nothing to say adds nothing", async (t) => {
  const { host } = await stage(t, { prompt_build: () => ({ text: "" }) });
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "hi" }, ctx), [undefined]);
});

test("after the deadline the turn goes on without memory, and the miss is counted and reported", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => SILENT }, { config: { recall_deadline_ms: 40 } });
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, ctx), [undefined]);
  await host.fire("agent_end", turn, ctx);
  assert.deepEqual(await peer.received("count"), { counters: { "recall.deadline": 1 } });
});

const late = () => new Promise((resolve) => setTimeout(resolve, 600, { text: "x" })); // later than the default deadline

async function greeted(t, config) {
  const staged = await stage(t, { hello: () => PATIENT, prompt_build: late }, { config });
  await staged.host.fire("agent_end", turn, ctx);
  await until(() => shared().recallMs === PATIENT.recall_deadline_ms, "the process was never greeted");
  return staged;
}

test("the process may set the deadline where the host's config does not", async (t) => {
  const { host } = await greeted(t, { recall_deadline_ms: undefined });
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, ctx), [{ appendContext: "x" }]);
});

test("the host's config goes before what the process says of the deadline", async (t) => {
  const { host } = await greeted(t, { recall_deadline_ms: 40 });
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, ctx), [undefined]);
  assert.equal(shared().counters.get("recall.deadline"), 1);
});

test("a recall that fails, or a process that is away, costs nothing but a count", async (t) => {
  const failing = () => {
    throw Object.assign(new Error("index damaged"), { code: "state-damaged" });
  };
  const { host, peer } = await stage(t, { prompt_build: failing });
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, ctx), [undefined]);
  await peer.kill();
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, { ...ctx, runId: "r2" }), [undefined]);
  assert.deepEqual(Object.fromEntries(shared().counters), { "recall.failed": 1, "process.away": 1 });
});

test("heartbeat, cron and memory turns never reach Python", async (t) => {
  const { host, peer } = await stage(t);
  for (const trigger of ["heartbeat", "cron", "memory"]) {
    await host.fire("before_prompt_build", { prompt: "q" }, { ...ctx, trigger });
    await host.fire("agent_end", turn, { ...ctx, trigger });
  }
  assert.deepEqual(peer.heard, []);
});

test("a turn that has ended is sent with what was learnt while it ran", async (t) => {
  const { host, peer } = await stage(t, { turn_end: () => ({ accepted: "new" }) });
  const announced = { ...ctx, inputProvenance: { kind: "inter_session" }, activeProjectKeys: ["git:x"] };
  await host.fire("before_prompt_build", { prompt: "" }, announced);
  await host.fire("before_agent_run", { senderIsOwner: true }, ctx);
  await host.fire("model_call_started", { runId: "r1", contextTokenBudget: 1_000 }, {});
  const messages = [...turn.messages.slice(0, 1), { role: "assistant", content: "a", usage: { input: 500 } }];
  await host.fire("agent_end", { ...turn, messages }, ctx);
  const sent = await peer.received("turn_end");
  assert.deepEqual(sent.usage, { tokens: 500, context_window: 1_000 });
  assert.equal(sent.sender.owner, true);
  assert.equal(sent.project, "git:x");
  assert.deepEqual(sent.provenance, { kind: "inter_session" });
  assert.equal(shared().runs.size, 0);
});

test("a message is told before the model is asked, once the host has said whose it is, and nobody waits for it", async (t) => {
  const { host, peer } = await stage(t, { turn_begin: () => SILENT });
  await host.fire("before_prompt_build", { prompt: "we moved to Turku" }, { ...ctx, channel: "telegram" });
  await host.fire("before_agent_run", { prompt: "we moved to Turku <memory>", senderIsOwner: true }, { ...ctx, channel: "telegram" });
  const begun = await peer.received("turn_begin");
  assert.equal(begun.messages[0].content, "we moved to Turku");
  assert.deepEqual([begun.run_id, begun.sender.owner], ["r1", true]);
});

test("a message is spooled before the model is asked when Python is away", async (t) => {
  const { host, folder } = await stage(t, {}, { running: false });
  await host.fire("before_prompt_build", { prompt: "we moved to Turku" }, ctx);
  await host.fire("before_agent_run", { prompt: "we moved to Turku" }, ctx);
  await until(() => existsSync(join(folder, "spool")) && spooled(folder).length === 1, "nothing was spooled");
  assert.deepEqual([spooled(folder)[0].method, spooled(folder)[0].params.messages[0].content], ["turn_begin", "we moved to Turku"]);
});

test("what no person wrote does not begin a turn", async (t) => {
  const { host, peer } = await stage(t);
  const cron = { ...ctx, runId: "r2", trigger: "cron" };
  const child = { ...ctx, runId: "r3", sessionKey: "agent:main:subagent:1" };
  const resumed = { ...ctx, runId: "r4", inputProvenance: { kind: "internal_system", sourceTool: "main_session_restart_recovery" } };
  for (const place of [cron, child, resumed]) {
    await host.fire("before_prompt_build", { prompt: "go on" }, place);
    await host.fire("before_agent_run", { prompt: "go on" }, place);
  }
  await host.fire("agent_end", turn, ctx);
  await peer.received("turn_end");
  assert.equal(peer.heard.filter(({ method }) => method === "turn_begin").length, 0);
});

test("the window falls back to what the host remembers of the session", async (t) => {
  const runtime = { agent: { session: { getSessionEntry: () => ({ contextTokens: 2_000 }) } } };
  const { host, peer } = await stage(t, {}, { runtime });
  await host.fire("agent_end", { runId: "r1", messages: [{ role: "assistant", content: "a", usage: { input: 500 } }] }, ctx);
  assert.deepEqual((await peer.received("turn_end")).usage, { tokens: 500, context_window: 2_000 });
});

test("a turn is spooled when Python is away: complete, owner-only, in order", async (t) => {
  const { host, folder } = await stage(t, {}, { running: false });
  await host.fire("agent_end", turn, ctx);
  await host.fire("before_compaction", {}, ctx);
  await host.fire("session_end", { reason: "new" }, ctx);
  assert.deepEqual(
    spooled(folder).map(({ method }) => method),
    ["turn_end", "before_compaction", "session_end"],
  );
  assert.equal(spooled(folder)[0].params.messages.length, 2);
  const [name] = readdirSync(join(folder, "spool"));
  assert.equal(statSync(join(folder, "spool", name)).mode & 0o077, 0);
  assert.equal(statSync(join(folder, "spool")).mode & 0o077, 0);
});

test("words do not follow a link that stands in the place of the spool or of serve.json", async (t) => {
  const { host, folder } = await stage(t, {}, { running: false });
  const elsewhere = join(folder, "..", "elsewhere");
  for (const made of [folder, elsewhere]) mkdirSync(made, { recursive: true });
  symlinkSync(elsewhere, join(folder, "spool"));
  writeFileSync(join(elsewhere, "serve.json"), '{"address": "unix:/tmp/theirs.sock"}');
  symlinkSync(join(elsewhere, "serve.json"), join(folder, "serve.json"));
  await host.fire("agent_end", turn, ctx);
  assert.deepEqual(readdirSync(elsewhere), ["serve.json"]);
  assert.equal(readServing(folder), null);
});

test("a turn is spooled when Python does not answer in time", { timeout: 60_000 }, async (t) => {
  const { host, peer, folder } = await stage(t, { turn_end: () => SILENT });
  await host.fire("agent_end", turn, ctx);
  assert.equal(spooled(folder).length, 1);
  await peer.received("drain"); // without waiting for another turn
});

test("an event that Python calls malformed is not spooled for ever", async (t) => {
  const refuse = () => {
    throw Object.assign(new Error("messages must be a list"), { code: "bad-request" });
  };
  const { host, folder } = await stage(t, { turn_end: refuse });
  await host.fire("agent_end", turn, ctx);
  assert.throws(() => spooled(folder), /ENOENT/);
  assert.match(host.warnings.join(), /messages must be a list/);
});

test("however many turns are spooled beside it, one drain runs at a time, and one more takes what came meanwhile", async (t) => {
  const turn_end = () => {
    throw { code: "internal", message: "out of order" };
  };
  const waiting = [];
  const drain = () => new Promise((resolve) => waiting.push(resolve));
  const { host, peer } = await stage(t, { turn_end, drain });
  for (const runId of ["r1", "r2", "r3"]) await host.fire("agent_end", { ...turn, runId }, { ...ctx, runId });
  await host.fire("before_prompt_build", { prompt: "q" }, ctx); // answered after whatever was asked before it
  assert.equal(waiting.length, 1);
  waiting[0]({});
  await until(() => waiting.length === 2, "what came meanwhile is not drained");
  waiting[1]({});
  await host.fire("before_prompt_build", { prompt: "q" }, ctx);
  assert.equal(peer.heard.filter(({ method }) => method === "drain").length, 2);
});

test("when Python is back it is told to drain what was spooled", async (t) => {
  const { host, peer, folder } = await stage(t, {}, { running: false });
  await host.fire("agent_end", turn, ctx);
  await peer.serve();
  shared().client.close();
  await host.fire("agent_end", { ...turn, runId: "r2" }, { ...ctx, runId: "r2" });
  await peer.received("drain");
  assert.equal(spooled(folder).length, 1); // the process removes it, not the bridge
});

test("a full disk loses the turn loudly, never the reply", async (t) => {
  const { host, folder } = await stage(t, {}, { running: false });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "spool"), "a file where the folder should be");
  await host.fire("agent_end", turn, ctx);
  assert.match(host.warnings.join(), /neither remembered nor spooled/);
});

test("the last words of a gateway are said only to a process that runs, and are not spooled", async (t) => {
  const { host, folder } = await stage(t, {}, { running: false });
  await host.fire("gateway_stop", { reason: "gateway stopping" });
  await host.fire("session_end", { reason: "shutdown" }, ctx);
  assert.throws(() => spooled(folder), /ENOENT/);
  assert.deepEqual(host.warnings, []);
});

test("session_end still reaches Python after gateway_stop", async (t) => {
  const { host, peer } = await stage(t);
  await host.fire("agent_end", turn, ctx);
  await host.fire("gateway_stop", { reason: "gateway stopping" });
  await host.fire("session_end", { reason: "shutdown" }, ctx);
  assert.equal((await peer.received("session_end")).reason, "shutdown");
  host.registered.services[0].stop();
  assert.equal(shared().client, null);
});

test("a process that hangs does not hold the gateway's exit", async (t) => {
  const { host, peer } = await stage(t, { gateway_stop: () => SILENT });
  await host.fire("agent_end", turn, ctx);
  const stopping = host.fire("gateway_stop", { reason: "gateway stopping" });
  await peer.received("gateway_stop");
  await stopping; // ends by its own deadline, far below this test's
});

test("gateway_start returns at once, whether Python can be started or not", async (t) => {
  const { host } = await stage(t, {}, { running: false });
  assert.deepEqual(await host.fire("gateway_start"), [undefined]);
});

test("registering twice with one api doubles nothing", async (t) => {
  const { host } = await stage(t);
  plugin.register(host.api);
  assert.ok([...host.hooks.values()].every((handlers) => handlers.length === 1));
  assert.equal(host.registered.tools.length, TOOLS.length);
  assert.equal(host.registered.corpora.length, 1);
});

test("two live registrations inject once", async (t) => {
  const { host, folder } = await stage(t, { prompt_build: () => ({ text: "block" }) });
  const second = fakeHost({ state: join(folder, ".."), config: host.api.pluginConfig });
  plugin.register(second.api);
  const first = await host.fire("before_prompt_build", { prompt: "q" }, ctx);
  const again = await second.fire("before_prompt_build", { prompt: "q" }, ctx);
  assert.deepEqual([...first, ...again], [{ appendContext: "block" }, undefined]);
});

test("a prompt that is built twice in one run gets its block both times", async (t) => {
  const { host } = await stage(t, { prompt_build: () => ({ text: "block" }) });
  await host.fire("before_prompt_build", { prompt: "q" }, ctx);
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: "q" }, ctx), [{ appendContext: "block" }]);
});

test("after a reload the new registration serves, over a connection of its own", async (t) => {
  const { host, peer, folder } = await stage(t, { prompt_build: () => ({ text: "block" }) });
  await host.fire("before_prompt_build", { prompt: "q" }, ctx);
  host.registered.services[0].stop();
  await host.fire("gateway_stop", { reason: "plugin replacement" });
  const next = fakeHost({ state: join(folder, ".."), config: { ...PATIENT, batch_size: 7 } });
  plugin.register(next.api);
  assert.deepEqual(await next.fire("before_prompt_build", { prompt: "q" }, { ...ctx, runId: "r2" }), [{ appendContext: "block" }]);
  assert.deepEqual(peer.heard.filter((m) => m.method === "hello").at(-1).params.host_config, { ...PATIENT, batch_size: 7 });
});

test("an older registration does not bring older settings back, nor end what the newer one uses", async (t) => {
  const { host, peer, folder } = await stage(t);
  const next = fakeHost({ state: join(folder, ".."), config: { batch_size: 7 } });
  plugin.register(next.api);
  await next.fire("agent_end", turn, ctx);
  host.registered.services[0].stop();
  await host.fire("gateway_stop", { reason: "plugin replacement" });
  await host.fire("agent_end", { ...turn, runId: "r2" }, { ...ctx, runId: "r2" });
  assert.deepEqual(
    peer.heard.filter((m) => m.method === "hello").map((m) => m.params.host_config),
    [{ batch_size: 7 }],
  );
});

for (const mode of ["cli-metadata", "setup-only", "setup-runtime"]) {
  test(`in mode ${mode} no hook and no service is registered`, (t) => {
    const host = fakeHost({ mode, state: stateDir(t) });
    plugin.register(host.api);
    assert.equal(host.hooks.size, 0);
    assert.equal(host.registered.services.length, 0);
    assert.equal(host.registered.cli.length, 1);
  });
}

for (const mode of ["discovery", "tool-discovery"]) {
  test(`in mode ${mode} every hook is registered, for agent runs and inspections, but no service`, (t) => {
    const host = fakeHost({ mode, state: stateDir(t) });
    plugin.register(host.api);
    assert.ok(["before_prompt_build", "agent_end", "before_compaction", "session_end"].every((name) => host.hooks.has(name)));
    assert.equal(host.registered.services.length, 0);
    assert.equal(shared().api, null); // the host's model is asked through the live registration
  });
}

test("where there is no runtime, reading it would throw and is not done", (t) => {
  const host = fakeHost({ mode: "cli-metadata", state: stateDir(t) });
  Object.defineProperty(host.api, "runtime", { get: () => assert.fail("no runtime in this mode") });
  plugin.register(host.api);
});

test("a host that lacks half of its surfaces is still served", async (t) => {
  const folder = stateDir(t);
  const peer = new Peer(folder, { hello: () => PATIENT, prompt_build: () => ({ text: "block" }) });
  await peer.serve();
  t.after(() => (reset(), peer.kill()));
  const host = fakeHost({ state: join(folder, "..") });
  const { on, runtime, rootDir } = host.api;
  plugin.register({ on, runtime, rootDir });
  await host.fire("agent_end", turn, { runId: "r0" });
  await until(() => shared().recallMs === PATIENT.recall_deadline_ms, "the process was never greeted");
  assert.deepEqual(await host.fire("before_prompt_build", undefined, { runId: "r" }), [{ appendContext: "block" }]);
});

test("a stranger on a channel is not taken for the owner when the prompt is built", async (t) => {
  const hostConfig = { commands: { ownerAllowFrom: ["telegram:1"] } };
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }) }, { hostConfig });
  const owners = [];
  const say = async (senderId, n) => {
    await host.fire("before_prompt_build", { prompt: "q" }, { ...ctx, runId: `t${n}`, channel: "telegram", senderId });
    owners.push(peer.heard.filter((m) => m.method === "prompt_build").at(-1).params.sender.owner);
  };
  await say("1", 1);
  await say("2", 2);
  await host.fire("before_agent_run", { senderIsOwner: true }, { ...ctx, runId: "t3", channel: "telegram", senderId: "2" });
  await say("2", 3);
  assert.deepEqual(owners, [true, false, true]);
});

test("where nobody says who the owner is, Python is told that nobody knows", async (t) => {
  const { host, peer } = await stage(t);
  await host.fire("before_prompt_build", { prompt: "q" }, { ...ctx, channel: "telegram", senderId: "9" });
  assert.equal((await peer.received("prompt_build")).sender.owner, null);
});

test("a canary seen in the model's input is reported", async (t) => {
  const { host, peer } = await stage(t);
  await host.fire("agent_end", turn, ctx);
  for (const event of [{ prompt: "q\n\n… neuralstream-canary-1a2b …" }, { prompt: "q", systemPrompt: "brief: neuralstream-canary-3c4d" }]) {
    await host.fire("llm_input", event, ctx);
  }
  const seen = peer.heard.filter(({ method }) => method === "seen").map(({ params }) => params.text);
  assert.deepEqual(seen, ["neuralstream-canary-1a2b", "neuralstream-canary-3c4d"]);
});

test("an event that makes a handler fail is counted, never thrown", async (t) => {
  const { host } = await stage(t);
  const hostile = {
    get messages() {
      throw new Error("poisoned");
    },
  };
  assert.deepEqual(await host.fire("agent_end", hostile, ctx), [undefined]);
  assert.equal(shared().counters.get("bridge.failed"), 1);
});

test("settings that Python refuses are told to the operator", async (t) => {
  const problems = ["recall_token_budget: must be 50 to 50000 (got 1)"];
  const { host } = await stage(t, { hello: () => ({ problems }) });
  await host.fire("agent_end", turn, ctx);
  assert.match(host.warnings.join(), /config: recall_token_budget: must be 50 to 50000/);
});

test("a sub-agent's events name its parent, its label, and whether its context is light", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "brief" }) });
  const key = "agent:main:subagent:1";
  await host.fire("before_tool_call", { toolName: "sessions_spawn", params: { task: "count the files", lightContext: true } }, ctx);
  await host.fire("subagent_spawned", { childSessionKey: key, label: "counter" }, { childSessionKey: key, requesterSessionKey: ctx.sessionKey });
  const child = { ...ctx, runId: "c1", sessionKey: key };
  await host.fire("before_prompt_build", { prompt: "[Subagent Task]\n\ncount the files\n" }, child);
  const asked = await peer.received("prompt_build");
  assert.deepEqual([asked.parent_key, asked.label, asked.light], [ctx.sessionKey, "counter", true]);
  await host.fire("agent_end", { runId: "c1", success: true, messages: [{ role: "user", content: "x" }, { role: "assistant", content: "412" }] }, child);
  const ended = await peer.received("turn_end");
  assert.deepEqual([ended.parent_key, ended.label], [ctx.sessionKey, "counter"]);
});

test("an ordinary session has no parent", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "x" }) });
  await host.fire("before_prompt_build", { prompt: "q" }, ctx);
  assert.equal((await peer.received("prompt_build")).parent_key, undefined);
});

const GROUP = "agent:main:telegram:group:1";
const MALLORY = { ...ctx, sessionKey: GROUP, channel: "telegram", senderId: "666" };

async function spawned(host, key = "agent:main:subagent:spy") {
  await host.fire("before_prompt_build", { prompt: "q" }, { ...MALLORY, runId: "m1" });
  await host.fire("before_agent_run", { senderIsOwner: false }, { ...MALLORY, runId: "m1" });
  await host.fire("subagent_spawned", { childSessionKey: key }, { childSessionKey: key, requesterSessionKey: GROUP });
  return { ...ctx, runId: "c9", sessionKey: key };
}
const last = (peer, method) => peer.heard.filter((m) => m.method === method).at(-1)?.params;
const SPOKE = { channel: "telegram", sender: { id: "666", owner: false } };

test("a sub-agent works for whoever spoke when it was started, not for who speaks later", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }), turn_end: () => ({ accepted: "new" }) });
  const child = await spawned(host);
  await host.fire("before_prompt_build", { prompt: "q" }, { ...MALLORY, runId: "o1", senderId: "1" });
  await host.fire("before_prompt_build", { prompt: "the task" }, child);
  await host.fire("before_agent_run", { senderIsOwner: true }, child);
  assert.deepEqual(last(peer, "prompt_build").speaker, SPOKE);
  await host.fire("agent_end", { ...turn, runId: "c9" }, child);
  assert.deepEqual(last(peer, "turn_end").speaker, SPOKE);
});

test("a grandchild works for the same, and so does a search of it", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }), "memory.search": () => ({ results: [] }), "tool.recall": () => ({ text: "x" }) });
  const child = await spawned(host);
  await host.fire("before_prompt_build", { prompt: "the task" }, child);
  const deep = "agent:main:subagent:deep";
  await host.fire("subagent_spawned", { childSessionKey: deep }, { childSessionKey: deep, requesterSessionKey: child.sessionKey });
  await host.registered.corpora[0].search({ query: "salary", agentSessionKey: deep });
  assert.deepEqual(last(peer, "memory.search").speaker, SPOKE);
  assert.deepEqual(await host.registered.corpora[0].search({ query: "salary", agentSessionKey: "agent:main:subagent:unknown" }), []);
  assert.equal(peer.heard.filter((m) => m.method === "memory.search").length, 1);
});

test("an announcement is answered for whoever spoke, and changes nothing of who that was", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }), turn_end: () => ({ accepted: "new" }) });
  await spawned(host);
  const routed = { ...ctx, runId: "a1", sessionKey: GROUP, channel: "webchat", inputProvenance: { kind: "inter_session" } };
  await host.fire("before_prompt_build", { prompt: "done" }, routed);
  await host.fire("before_agent_run", { senderIsOwner: true }, routed);
  assert.deepEqual(last(peer, "prompt_build").speaker, SPOKE);
  await host.fire("agent_end", { ...turn, runId: "a1" }, { ...routed, inputProvenance: undefined });
  assert.deepEqual(last(peer, "turn_end").speaker, SPOKE);
});

test("the tools of a sub-agent ask the memory of whoever it works for", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }), "tool.recall": () => ({ text: "x" }) });
  const child = await spawned(host);
  for (const sessionKey of [child.sessionKey, "agent:main:subagent:unknown"]) {
    await host.registered.tools[0].factory({ agentId: "main", sessionKey, senderIsOwner: true }).execute("1", { query: "q" });
  }
  const users = peer.heard.filter((m) => m.method === "tool.recall").map((m) => m.params.user);
  assert.deepEqual(users, ["telegram:666", "unknown:agent:main:subagent:unknown"]);
});

test("a child is light by its own whole task, and an order counts once", async (t) => {
  const { host, peer } = await stage(t, { prompt_build: () => ({ text: "" }) });
  const order = (task, lightContext) => host.fire("before_tool_call", { toolName: "sessions_spawn", params: { task, lightContext } }, ctx);
  const lights = [];
  const start = async (n, task) => {
    const key = `agent:main:subagent:${n}`;
    await host.fire("subagent_spawned", { childSessionKey: key }, { childSessionKey: key, requesterSessionKey: ctx.sessionKey });
    await host.fire("before_prompt_build", { prompt: `[Subagent Context] Complete the current [Subagent Task].\n\n[Subagent Task]\n\n${task}\n\nBegin. Execute the assigned task to completion.` }, { ...ctx, runId: `k${n}`, sessionKey: key });
    lights.push(last(peer, "prompt_build").light ?? false);
  };
  await order("count", true);
  await order("count the files", false);
  await start(1, "count the files");
  await start(2, "count");
  await order("count", false);
  await start(3, "count");
  assert.deepEqual(lights, [false, true, false]);
});

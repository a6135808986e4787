import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import plugin from "../../bridge/index.js";
import { reset } from "../../bridge/shared.js";
import { TOOLS } from "../../bridge/tools.js";
import { fakeHost, Peer, stateDir } from "./peer.mjs";

beforeEach(() => reset());

const manifest = JSON.parse(readFileSync(new URL("../../openclaw.plugin.json", import.meta.url), "utf8"));

async function stage(t, answers = {}, options = {}) {
  const folder = stateDir(t);
  const peer = new Peer(folder, answers);
  await peer.serve();
  t.after(() => (reset(), peer.kill()));
  const host = fakeHost({ state: join(folder, ".."), ...options });
  plugin.register(host.api);
  return { host, peer, folder };
}

test("the tools are the ones that the manifest promises", () => {
  assert.deepEqual(TOOLS.map(({ name }) => name).sort(), [...manifest.contracts.tools].sort());
});

test("a tool asks Python for the agent and session that call it", async (t) => {
  const { host, peer } = await stage(t, { "tool.recall": () => ({ text: "You drink tea." }) });
  const tool = host.registered.tools[0].factory({ agentId: "work", sessionKey: "agent:work:main", senderIsOwner: true });
  const result = await tool.execute("call-1", { query: "drink" });
  assert.deepEqual(result.content, [{ type: "text", text: "You drink tea." }]);
  const asked = await peer.received("tool.recall");
  assert.deepEqual(asked, { query: "drink", agent: "work", session_key: "agent:work:main" });
});

test("a tool that someone other than the owner set off asks that person's memory", async (t) => {
  const { host, peer } = await stage(t);
  const tool = host.registered.tools[0].factory({ agentId: "main", senderIsOwner: false, messageChannel: "telegram", requesterSenderId: "u7" });
  await tool.execute("call-1", { query: "x", user: "owner" });
  assert.equal((await peer.received("tool.recall")).user, "telegram:u7");
});

test("a tool cannot be made to speak for another agent", async (t) => {
  const { host, peer } = await stage(t);
  const tool = host.registered.tools[0].factory({ agentId: "main", sessionKey: "agent:main:s" });
  await tool.execute("call-1", { query: "x", agent: "other", session_key: "agent:other:s" });
  assert.equal((await peer.received("tool.recall")).agent, "main");
});

test("a tool that fails answers the model in words", async (t) => {
  const { host, peer } = await stage(t, {}, { config: { python: "/no/python" } });
  await peer.kill();
  const tool = host.registered.tools[1].factory({});
  const { content } = await tool.execute("call-1", { text: "x" });
  assert.match(content[0].text, /Memory is not available right now/);
});

test("tools work in the registrations that only look for tools", async (t) => {
  const { host } = await stage(t, { "tool.recall": () => ({ text: "found" }) }, { mode: "tool-discovery" });
  const { content } = await host.registered.tools[0].factory({}).execute("1", { query: "x" });
  assert.equal(content[0].text, "found");
});

test("the slash command passes its arguments on and answers with text", async (t) => {
  const { host, peer } = await stage(t, { command: () => ({ text: "3 gems" }) });
  const command = host.registered.commands[0];
  assert.equal(command.name, "neuralstream");
  assert.equal(command.requireAuth, true);
  assert.deepEqual(await command.handler({ args: "gems list", agentId: "main", sessionKey: "agent:main:s" }), { text: "3 gems" });
  assert.equal((await peer.received("command")).args, "gems list");
});

test("openclaw neuralstream … runs our command line with the same state directory and its exit code", async (t) => {
  const { host, folder } = await stage(t);
  mkdirSync(join(folder, "venv", "bin"), { recursive: true });
  const python = join(folder, "venv", "bin", "python");
  writeFileSync(python, `#!/bin/sh\nprintf '%s|' "$@" > ${folder}/called; printf '%s' "$NEURALSTREAM_STATE_DIR" >> ${folder}/called; exit 3\n`);
  chmodSync(python, 0o755);
  let action;
  const program = new Proxy({}, { get: (_, name) => (...given) => ((action = name === "action" ? given[0] : action), program) });
  host.registered.cli[0].registrar({ program });
  const before = process.exitCode;
  await action(["gems", "list", "--json"]);
  assert.equal(process.exitCode, 3);
  process.exitCode = before;
  assert.equal(readFileSync(join(folder, "called"), "utf8"), `-m|openclaw_neuralstream|gems|list|--json|${folder}`);
});

test("a completion is answered by the host's own model, for the agent where that is allowed", async (t) => {
  const asked = [];
  const complete = async (request) => {
    asked.push(request);
    if (request.agentId) throw Object.assign(new Error("no"), { code: "LLM_COMPLETION_NOT_AUTHORIZED" });
    return { text: "[]", provider: "fake", model: "m1" };
  };
  const { host, peer } = await stage(t, {}, { runtime: { llm: { complete } } });
  await host.registered.tools[0].factory({}).execute("1", { query: "connect" });
  assert.deepEqual((await peer.received("hello")).capabilities, ["complete"]);
  const answer = await peer.ask("complete", { system: "S", prompt: "P", schema: { type: "array" }, agent: "work", timeout_ms: 1_000 });
  assert.deepEqual(answer.result, { text: "[]", model: "fake/m1" });
  assert.deepEqual(asked.map(({ agentId }) => agentId), ["work", undefined]);
  assert.equal(asked[1].systemPrompt, "S");
  assert.equal(asked[1].responseFormat.json_schema.schema.type, "array");
});

test("a host without a model says so instead of hanging", async (t) => {
  const { host, peer } = await stage(t);
  await host.registered.tools[0].factory({}).execute("1", { query: "connect" });
  assert.deepEqual((await peer.received("hello")).capabilities, []);
  assert.ok((await peer.ask("complete", { prompt: "P" })).error.message);
});

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client, Deadline, Refused } from "../../bridge/client.js";
import { ProcessAway } from "../../bridge/start.js";
import { Peer, SILENT, stateDir } from "./peer.mjs";

const never = () => Promise.reject(new ProcessAway("nothing to start"));

async function pair(t, answers, options = {}) {
  const folder = stateDir(t);
  const peer = new Peer(folder, answers);
  await peer.serve();
  const client = new Client({ stateDir: folder, start: never, ...options });
  t.after(() => (client.close(), peer.kill()));
  return { client, peer, folder };
}

test("the first request is a hello with the token that serve.json carries", async (t) => {
  const { client, peer } = await pair(t, { ping: () => ({ pong: true }) }, { hello: { version: "0.1.0" } });
  assert.deepEqual(await client.request("ping"), { pong: true });
  assert.deepEqual(
    peer.heard.map(({ method }) => method),
    ["hello", "ping"],
  );
  assert.equal(peer.heard[0].params.token, "secret");
  assert.equal(peer.heard[0].params.protocol, 1);
});

test("many requests at once share one connection and get their own answers", async (t) => {
  const { client, peer } = await pair(t, { echo: (params) => params });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => client.request("echo", { n })));
  assert.deepEqual(
    answers.map(({ n }) => n),
    Array.from({ length: 50 }, (_, n) => n),
  );
  assert.equal(peer.connections, 1);
});

test("an answer that does not come in time is a Deadline, and the next request works", async (t) => {
  const { client } = await pair(t, { slow: () => SILENT, ping: () => ({ pong: true }) });
  await assert.rejects(client.request("slow", {}, { timeoutMs: 30 }), Deadline);
  assert.deepEqual(await client.request("ping"), { pong: true });
});

test("an answer that comes too late is dropped", async (t) => {
  const { promise, resolve } = Promise.withResolvers();
  const { client } = await pair(t, { slow: () => promise, ping: () => ({ pong: true }) });
  await assert.rejects(client.request("slow", {}, { timeoutMs: 20 }), Deadline);
  resolve({ late: true });
  assert.deepEqual(await client.request("ping"), { pong: true });
});

test("an error of the process carries its code and its words", async (t) => {
  const failing = () => {
    throw Object.assign(new Error("no such gem"), { code: "not-found" });
  };
  const { client } = await pair(t, { show: failing });
  await assert.rejects(client.request("show"), (error) => {
    assert.ok(error instanceof Refused);
    assert.equal(error.code, "not-found");
    assert.match(error.message, /no such gem/);
    return true;
  });
});

test("when the process goes away in mid-request, the request fails at once and the next one starts another", async (t) => {
  const { client, peer, folder } = await pair(t, { slow: () => SILENT });
  const asked = client.request("slow", {}, { timeoutMs: 10_000 });
  const failed = assert.rejects(asked, ProcessAway);
  await peer.received("slow");
  await peer.kill();
  await failed;
  const second = new Peer(folder, { ping: () => ({ second: true }) });
  await second.serve();
  t.after(() => second.kill());
  assert.deepEqual(await client.request("ping"), { second: true });
});

test("a stale serve.json leads to a start", async (t) => {
  const folder = stateDir(t);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "serve.json"), JSON.stringify({ address: "unix:/nowhere/at/all.sock", token: "x" }));
  const peer = new Peer(folder, { ping: () => ({ pong: true }) });
  const client = new Client({ stateDir: folder, start: () => peer.serve() });
  t.after(() => (client.close(), peer.kill()));
  assert.deepEqual(await client.request("ping"), { pong: true });
});

test("however many ask at once, the process is started once", async (t) => {
  const folder = stateDir(t);
  const peer = new Peer(folder, { ping: () => ({ pong: true }) });
  let starts = 0;
  const client = new Client({ stateDir: folder, start: () => ((starts += 1), peer.serve()) });
  t.after(() => (client.close(), peer.kill()));
  await Promise.all(Array.from({ length: 20 }, () => client.request("ping")));
  assert.equal(starts, 1);
});

test("an older process that retires on hello is replaced by our own", async (t) => {
  const folder = stateDir(t);
  const old = new Peer(folder, {
    hello: () => {
      throw Object.assign(new Error("older"), { code: "version" });
    },
  });
  await old.serve();
  const young = new Peer(folder, { ping: () => ({ young: true }) });
  const client = new Client({ stateDir: folder, start: () => young.serve() });
  t.after(() => (client.close(), old.kill(), young.kill()));
  assert.deepEqual(await client.request("ping"), { young: true });
});

test("a start that failed is not repeated for every event, and its reason is kept", async (t) => {
  t.mock.method(performance, "now", () => 1_000); // however long the machine takes, the pause is not over
  let starts = 0;
  const start = () => ((starts += 1), Promise.reject(new ProcessAway("type: pip install …")));
  const client = new Client({ stateDir: stateDir(t), start });
  for (let i = 0; i < 5; i++) await assert.rejects(client.request("ping"), /pip install/);
  assert.equal(starts, 1);
});

test("a plugin newer than the Python package says what to update, and does not start it for every event", async (t) => {
  t.mock.method(performance, "now", () => 1_000); // however long the machine takes, the pause is not over
  const folder = stateDir(t);
  const old = new Peer(folder, {
    hello: () => {
      throw Object.assign(new Error("version 0.1.0 retires for 0.2.0"), { code: "version" });
    },
  });
  let starts = 0;
  const client = new Client({ stateDir: folder, start: () => ((starts += 1), old.serve()) });
  t.after(() => (client.close(), old.kill()));
  for (let i = 0; i < 3; i++) await assert.rejects(client.request("ping"), /pip install --upgrade/);
  assert.equal(starts, 1);
});

test("a request that may not start anything finds the process away and leaves it so", async (t) => {
  const client = new Client({ stateDir: stateDir(t), start: () => assert.fail("must not start") });
  await assert.rejects(client.request("ping", {}, { mayStart: false }), ProcessAway);
});

test("the deadline covers the start as well", async (t) => {
  const client = new Client({ stateDir: stateDir(t), start: () => new Promise(() => {}) });
  await assert.rejects(client.request("ping", {}, { timeoutMs: 30 }), Deadline);
});

test("the process's own requests are answered, errors included", async (t) => {
  const answer = async (method, params) => {
    if (method !== "complete") throw new Error(`unknown request: ${method}`);
    return { text: params.prompt.toUpperCase() };
  };
  const { client, peer } = await pair(t, {}, { answer });
  await client.request("ping");
  assert.deepEqual((await peer.ask("complete", { prompt: "hi" })).result, { text: "HI" });
  assert.match((await peer.ask("dance", {})).error.message, /unknown request/);
});

test("noise on the line is ignored", async (t) => {
  const { client, peer } = await pair(t, { ping: () => ({ pong: true }) });
  await client.request("ping");
  peer.blurt('not json\n{"id":999,"result":{}}\n[]\nnull\n');
  assert.deepEqual(await client.request("ping"), { pong: true });
});

test("text of any language and a lone surrogate survive the line", async (t) => {
  const { client, peer } = await pair(t, { echo: () => ({}) });
  const said = "东京 · Москва · line\nbreak · \ud83d";
  await client.request("echo", { said });
  assert.equal((await peer.received("echo")).said, said);
});

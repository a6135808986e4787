// A scripted stand-in for the Python process: it speaks the protocol over a real Unix socket and remembers what it heard.

import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

for (const name of Object.keys(process.env)) if (name.startsWith("NEURALSTREAM_")) delete process.env[name];

/** A folder of its own for one test; removed when the test ends. */
export function stateDir(t) {
  const folder = mkdtempSync(join(tmpdir(), "ns-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "neuralstream");
}

/** answers: method → (params, peer) => result, may throw { code, message } or return a promise. */
export class Peer {
  heard = [];
  #answers;
  #server;
  #sockets = new Set();
  #waiting = [];
  #asked = new Map();

  constructor(folder, answers = {}) {
    this.folder = folder;
    this.#answers = { hello: () => ({ version: "0.1.0", protocol: 1, pid: process.pid }), ...answers };
  }

  /** Listen, and write serve.json as the process would. Returns what it says. */
  async serve() {
    mkdirSync(this.folder, { recursive: true });
    const path = join(this.folder, `p${Math.random().toString(36).slice(2, 8)}.sock`);
    this.#server = createServer((socket) => this.#greet(socket));
    await new Promise((resolve) => this.#server.listen(path, resolve));
    this.info = { address: `unix:${path}`, pid: process.pid, version: "0.1.0", protocol: 1, token: "secret" };
    writeFileSync(join(this.folder, "serve.json"), JSON.stringify(this.info));
    return this.info;
  }

  /** Gone at once, as when the process is killed; serve.json stays behind. */
  async kill() {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve()));
    this.#server = null;
  }

  get connections() {
    return this.#sockets.size;
  }

  /** Params of the first message of this method, now or when it comes. */
  async received(method, { timeoutMs = 30_000 } = {}) {
    const found = this.heard.find((message) => message.method === method);
    if (found) return found.params;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`never heard ${method}`)), timeoutMs);
      this.#waiting.push({ method, resolve: (params) => (clearTimeout(timer), resolve(params)) });
    });
  }

  /** Write raw text to the bridge. */
  blurt(text) {
    for (const socket of this.#sockets) socket.write(text);
  }

  /** Ask the bridge something over its own connection. */
  ask(method, params) {
    const id = `s${this.#asked.size + 1}`;
    const [socket] = this.#sockets;
    socket.write(`${JSON.stringify({ id, method, params })}\n`);
    return new Promise((resolve) => this.#asked.set(id, resolve));
  }

  #greet(socket) {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    createInterface({ input: socket }).on("line", (line) => this.#hear(socket, JSON.parse(line)));
  }

  async #hear(socket, message) {
    if (!message.method) return this.#asked.get(message.id)?.(message);
    this.heard.push(message);
    this.#waiting = this.#waiting.filter((one) => one.method !== message.method || one.resolve(message.params));
    const answer = await this.#answer(message);
    if (answer !== undefined && !socket.destroyed) socket.write(`${JSON.stringify({ id: message.id, ...answer })}\n`);
  }

  async #answer({ method, params }) {
    try {
      const result = await (this.#answers[method]?.(params, this) ?? {});
      return result === SILENT ? undefined : { result };
    } catch (error) {
      return { error: { code: error.code, message: error.message } };
    }
  }
}

/** A deadline that a busy machine does not miss; the tests of the deadline itself set their own. */
export const PATIENT = { recall_deadline_ms: 10_000 };

/** Returned by an answer: never reply. */
export const SILENT = Symbol("silent");

/** Wait until it is true; fails when that takes longer than half a minute. */
export async function until(condition, why = "waited in vain") {
  const end = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(why);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A host's api object that records what is registered and lets a test fire events. */
export function fakeHost({ mode = "full", config = {}, state, runtime = {}, hostConfig = {} } = {}) {
  const hooks = new Map();
  const registered = { tools: [], commands: [], services: [], cli: [], corpora: [] };
  const warnings = [];
  return {
    registered,
    warnings,
    hooks,
    async fire(name, event = {}, ctx = {}) {
      const results = [];
      for (const handler of hooks.get(name) ?? []) results.push(await handler(event, ctx));
      return results;
    },
    api: {
      id: "neuralstream",
      registrationMode: mode,
      pluginConfig: config,
      rootDir: new URL("../..", import.meta.url).pathname,
      config: hostConfig,
      logger: { warn: (text) => warnings.push(text), info() {}, debug() {}, error() {} },
      runtime: { state: { resolveStateDir: () => state }, ...runtime },
      on: (name, handler) => hooks.set(name, [...(hooks.get(name) ?? []), handler]),
      registerTool: (factory, options) => registered.tools.push({ factory, ...options }),
      registerCommand: (command) => registered.commands.push(command),
      registerService: (service) => registered.services.push(service),
      registerMemoryCorpusSupplement: (corpus) => registered.corpora.push(corpus),
      registerCli: (registrar, options) => registered.cli.push({ registrar, ...options }),
    },
  };
}

// The connection to the Python process: one line of JSON an object over its Unix socket. Every call has a deadline; the
// process is started when it is away, once however many ask for it.

import { lstatSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ProcessAway, startProcess } from "./start.js";

const PROTOCOL = 1;
const HELLO_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** No answer within the time that the call had. */
export class Deadline extends Error {
  name = "Deadline";
}

/** The process answered with an error; `code` is its own. */
export class Refused extends Error {
  name = "Refused";

  constructor({ code, message, where, fix } = {}) {
    super([message, where, fix].filter(Boolean).join(" · ") || "refused");
    this.code = code ?? "error";
  }
}

export class Client {
  #options;
  #link = null;
  #connecting = null;
  #pauseMs = 0;
  #notBefore = 0;
  #lastTrouble = null;

  /**
   * stateDir: where serve.json is. hello: version, host_config, capabilities of the first request.
   * answer(method, params): serves the process's own requests. connected(answer of hello): called after each connection.
   */
  constructor({ stateDir, python, env = process.env, hello = {}, answer = null, connected = () => {}, start = startProcess }) {
    this.#options = { stateDir, python, env, hello, answer, connected, start };
  }

  get isConnected() {
    return this.#link !== null;
  }

  /**
   * The result of one request. mayStart false: only a process that already serves is asked.
   * Rejects with Deadline, ProcessAway or Refused.
   */
  async request(method, params = {}, { timeoutMs = 5_000, mayStart = true } = {}) {
    const until = performance.now() + timeoutMs;
    const late = `${method}: no answer within ${timeoutMs} ms`;
    const link = this.#link ?? (await within(this.#connect(mayStart), timeoutMs, late));
    return within(link.call(method, params), until - performance.now(), late);
  }

  /** Connect, and start the process if need be, without waiting for it. */
  warm() {
    this.#connect(true).catch(() => {}); // whoever needs it will meet and report the same error
  }

  close() {
    this.#link?.close();
    this.#link = null;
  }

  #connect(mayStart) {
    if (this.#link) return Promise.resolve(this.#link);
    if (this.#connecting) return this.#connecting;
    const attempt = this.#open(mayStart).finally(() => (this.#connecting = null));
    if (mayStart) this.#connecting = attempt; // a call that must not start anything does not hold the others up
    return attempt;
  }

  async #open(mayStart) {
    const serving = readServing(this.#options.stateDir);
    if (serving) {
      try {
        return await this.#greet(serving);
      } catch (error) {
        // an older process retires on our hello: start our own; anything else means that nobody serves there
        if (!mayStart) throw error;
      }
    }
    if (!mayStart) throw new ProcessAway("the memory process does not run");
    return this.#startAndGreet();
  }

  /** After a failure it is not tried again for a while: an event must not cost a start each. */
  async #startAndGreet() {
    if (performance.now() < this.#notBefore) throw this.#lastTrouble;
    const { stateDir, python, env, hello, start } = this.#options;
    try {
      const link = await this.#greet(await start({ stateDir, python, env, hostConfig: hello.host_config }));
      this.#pauseMs = 0;
      return link;
    } catch (error) {
      this.#lastTrouble = error.code === "version" ? newerThanPython(error) : error;
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2 || FIRST_PAUSE_MS);
      this.#notBefore = performance.now() + this.#pauseMs;
      throw this.#lastTrouble;
    }
  }

  async #greet(info) {
    const link = await openLink(info.address, {
      answer: this.#options.answer,
      closed: (gone) => {
        if (this.#link === gone) this.#link = null;
      },
    });
    try {
      const hello = { protocol: PROTOCOL, client: "bridge", token: info.token, ...this.#options.hello };
      const welcome = await within(link.call("hello", hello), HELLO_TIMEOUT_MS, "the memory process does not greet back");
      this.#link = link;
      this.#options.connected(welcome);
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }
}

function newerThanPython(error) {
  const fix = "update the Python package: pip install --upgrade openclaw-neuralstream";
  return new ProcessAway(`the plugin is newer than the memory process (${error.message}) · ${fix}`);
}

/** What serve.json says, or null where nobody serves, or where a link stands in its place: the process refuses that by name. */
export function readServing(stateDir) {
  const file = join(stateDir, "serve.json");
  try {
    if (lstatSync(file).isSymbolicLink()) return null;
    const info = JSON.parse(readFileSync(file, "utf8"));
    return typeof info?.address === "string" ? info : null;
  } catch {
    return null;
  }
}

async function openLink(address, { answer, closed }) {
  const socket = createConnection({ path: address.replace(/^unix:/, "") });
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", (error) => reject(new ProcessAway(`the memory process does not answer: ${error.message}`)));
  });
  return new Link(socket, answer, closed);
}

class Link {
  #socket;
  #pending = new Map();
  #sent = 0;

  constructor(socket, answer, closed) {
    this.#socket = socket;
    socket.setNoDelay?.(true);
    socket.unref(); // an idle connection must not keep a one-shot command alive
    socket.on("error", () => {}); // "close" follows
    socket.once("close", () => {
      closed(this);
      for (const { reject } of this.#pending.values()) reject(new ProcessAway("the memory process went away"));
      this.#settled();
    });
    createInterface({ input: socket, crlfDelay: Infinity })
      .on("line", (line) => this.#heard(line, answer))
      .on("error", () => {});
  }

  call(method, params) {
    this.#sent += 1;
    const id = this.#sent;
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#pending.set(id, { resolve, reject });
    this.#socket.ref();
    this.#write({ id, method, params });
    return Object.assign(promise, { giveUp: () => this.#settle(id) });
  }

  close() {
    this.#socket.destroy();
  }

  #write(message) {
    if (this.#socket.destroyed) return; // "close" is about to reject whatever waits
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #heard(line, answer) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // not ours
    }
    if (message?.method) return void this.#serve(message, answer);
    const waiting = this.#settle(message?.id);
    if (!waiting) return; // too late: the caller has given up
    if (message.error) waiting.reject(new Refused(message.error));
    else waiting.resolve(message.result ?? {});
  }

  async #serve({ id, method, params }, answer) {
    try {
      if (!answer) throw new Error("the host offers nothing of the kind");
      this.#write({ id, result: await answer(method, params ?? {}) });
    } catch (error) {
      this.#write({ id, error: { code: error.code ?? "host", message: error.message } });
    }
  }

  #settle(id) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#socket.unref();
    return waiting;
  }

  #settled() {
    this.#pending.clear();
    this.#socket.unref();
  }
}

/** The promise, or Deadline after so many milliseconds; a call that is given up leaves nothing behind. */
async function within(promise, timeoutMs, late) {
  promise.catch(() => {}); // may fail after nobody waits any more
  let timer;
  const over = new Promise((_, reject) => {
    timer = setTimeout(() => {
      promise.giveUp?.();
      reject(new Deadline(late));
    }, Math.max(0, timeoutMs));
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

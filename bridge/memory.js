// What the hooks, tools and commands ask of the Python process, with what happens when it does not answer.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answerer, canComplete } from "./complete.js";
import { Client } from "./client.js";
import { workspacesOf } from "./workspaces.js";
import { count, dropBriefs, forgetBriefs, keepBrief, keptBrief, returnCounts, shared, takeCounts } from "./shared.js";
import { Spool } from "./spool.js";

const DEFAULT_RECALL_MS = 300;
const KEEP_MS = 2_000; // `openclaw agent --local` waits about 5 s for a handler
const LAST_WORD_MS = 800; // the gateway is going: nobody waits long
const ASK_MS = 15_000;
const LOOK_MS = 3_000; // the host's own search takes longer; nobody waits for more than its results

export class Memory {
  #api;
  #spool;
  #version;
  #spooled = false;
  #draining = false;
  #told = new Set();
  stateDir;

  constructor(api, stateDir) {
    this.#api = api;
    this.#spool = new Spool(stateDir);
    this.#version = versionOf(api.rootDir);
    this.stateDir = stateDir;
  }

  /** Of the live registration where there is one: an older registration must not bring older settings back. */
  get #host() {
    return shared().api ?? this.#api;
  }

  get #config() {
    return this.#host.pluginConfig ?? {};
  }

  /**
   * What to put into the prompt: { text } beside the message, { brief } into the system part of every request of the window;
   * each "" when there is nothing. Where no answer came in time (which is counted): the window's brief alone, text undefined.
   */
  async recall(event) {
    const timeoutMs = this.#config.recall_deadline_ms ?? shared().recallMs ?? DEFAULT_RECALL_MS;
    try {
      const { text, brief } = await this.#client().request("prompt_build", event, { timeoutMs });
      this.#report();
      if (typeof brief === "string") keepBrief(event, brief); // else this message is none of ours: what stands, stands
      return { text: typeof text === "string" ? text : "", brief: keptBrief(event) };
    } catch (error) {
      count(missName(error));
      this.#explain(error);
      return { text: undefined, brief: keptBrief(event) };
    }
  }

  /** Look something up beside the host's own search; undefined when no answer came in time (which is counted). */
  async look(method, params) {
    try {
      return await this.#client().request(method, params, { timeoutMs: LOOK_MS });
    } catch (error) {
      count(`search.${error.name === "Deadline" ? "deadline" : "failed"}`);
      this.#explain(error);
      return undefined;
    }
  }

  /** Tell the process what happened; when it cannot take it, keep it in the spool. Never rejects. */
  async tell(method, event) {
    if (method === "session_end" || method === "after_compaction") dropBriefs(event.session_key);
    try {
      await this.#client().request(method, event, { timeoutMs: KEEP_MS });
      this.#report();
      if (this.#spooled) this.#drain();
    } catch (error) {
      if (error.code === "bad-request") return this.#warn(`${method} was refused: ${error.message}`);
      this.#keep(method, event);
      this.#explain(error);
    }
  }

  /** Tell it if it runs, and do not wait long: the gateway is stopping. Never rejects. */
  async lastWord(method, event) {
    try {
      await this.#client().request(method, event, { timeoutMs: LAST_WORD_MS, mayStart: false });
    } catch {
      // it does not run or is busy: what it accepted is safe, and there is nothing to add
    }
  }

  /** Ask for something a person waits for. Rejects with words that a person can use. */
  async ask(method, params) {
    try {
      return await this.#client().request(method, params, { timeoutMs: ASK_MS });
    } finally {
      if (method === "tool.forget" || method === "command") forgetBriefs();
    }
  }

  /** Be ready when the prompt is built. Returns at once. */
  warm() {
    this.#client().warm();
  }

  #client() {
    const state = shared();
    const hello = this.#hello();
    const key = JSON.stringify([this.stateDir, this.#config, hello.version]);
    if (state.client && state.clientKey === key) return state.client;
    state.client?.close();
    state.clientKey = key;
    state.client = new Client({
      stateDir: this.stateDir,
      python: this.#config.python,
      hello,
      answer: answerer(() => this.#host),
      connected: (welcome) => this.#connected(welcome),
    });
    return state.client;
  }

  #hello() {
    const { python, ...settings } = this.#config;
    const kept = this.#host.pluginConfig !== undefined; // another program's settings are not the host's
    const capabilities = canComplete(this.#host) ? ["complete"] : [];
    const workspaces = workspacesOf(this.#host);
    const host = { host_config: kept ? settings : undefined, host_state: hostState(this.#host), capabilities, workspaces };
    return { version: this.#version, pid: process.pid, ...host };
  }

  #connected(welcome) {
    shared().recallMs = welcome?.recall_deadline_ms;
    this.#told.clear();
    for (const problem of welcome?.problems ?? []) this.#warn(`plugins.entries.neuralstream.config: ${problem}`);
    if (this.#spool.waiting() > 0) this.#drain();
  }

  /** One at a time, and another one for what was spooled meanwhile. Never rejects. */
  async #drain() {
    if (this.#draining) return;
    this.#draining = true;
    try {
      do {
        this.#spooled = false;
        await this.#client().request("drain", {}, { timeoutMs: 60_000 });
      } while (this.#spooled);
    } catch {
      this.#spooled = true;
    } finally {
      this.#draining = false;
    }
  }

  #keep(method, event) {
    try {
      this.#spool.keep(method, event);
      this.#spooled = true;
      count("spooled");
      if (this.#client().isConnected) this.#drain(); // a slow answer: nobody connects again, and the next turn may be far
      else this.#client().warm();
    } catch (error) {
      count("spool.failed");
      this.#warn(`a turn could be neither remembered nor spooled: ${error.message}`);
    }
  }

  #report() {
    const counters = takeCounts();
    if (Object.keys(counters).length === 0) return;
    this.#client()
      .request("count", { counters })
      .catch(() => returnCounts(counters));
  }

  /** Say once what is wrong until it has worked again. */
  #explain(error) {
    if (error.name === "Deadline" || this.#told.has(error.message)) return;
    this.#told.add(error.message);
    this.#warn(error.message);
  }

  #warn(text) {
    this.#api.logger?.warn?.(`neuralstream: ${text}`);
  }
}

/** By name: the connection may have been opened by another copy of our modules, with error classes of its own. */
function missName(error) {
  return { Deadline: "recall.deadline", ProcessAway: "process.away" }[error.name] ?? "recall.failed";
}

/** Where the host keeps its sessions: what it was told to forget is read there. */
function hostState(api) {
  try {
    return api.runtime.state.resolveStateDir(process.env);
  } catch {
    return undefined;
  }
}

function versionOf(rootDir) {
  try {
    return JSON.parse(readFileSync(join(rootDir, "package.json"), "utf8")).version;
  } catch {
    return "0.0.0"; // a layout we do not know; the protocol number decides
  }
}

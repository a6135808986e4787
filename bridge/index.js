// NeuralStream inside OpenClaw: registers what the host calls, and does nothing else. Python starts on first use.

import { homedir } from "node:os";
import { join } from "node:path";
import { registerCorpus } from "./corpus.js";
import { registerHooks, registerService } from "./hooks.js";
import { Memory } from "./memory.js";
import { firstSight, shared } from "./shared.js";
import { registerSlot } from "./slot.js";
import { registerCli, registerCommand, registerTools } from "./tools.js";

const BARE = new Set(["cli-metadata", "setup-only", "setup-runtime"]); // no agent runs there, and most have no runtime
const LIVE = "full";

/** Where everything of ours is: the same folder that the Python side finds by itself. */
export function stateDirOf(api) {
  if (process.env.NEURALSTREAM_STATE_DIR) return process.env.NEURALSTREAM_STATE_DIR;
  try {
    return join(api.runtime.state.resolveStateDir(process.env), "neuralstream");
  } catch {
    const host = process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");
    return join(host, "neuralstream");
  }
}

export default {
  id: "neuralstream",
  name: "NeuralStream",
  description: "Long-term memory for OpenClaw",

  /** Called several times per process, in different modes; must not start or open anything. */
  register(api) {
    if (!firstSight(api)) return;
    const mode = api.registrationMode ?? LIVE;
    registerCli(api, () => ({ python: api.pluginConfig?.python, stateDir: stateDirOf(api) }));
    if (BARE.has(mode)) return;
    const memory = new Memory(api, stateDirOf(api));
    registerTools(api, memory);
    registerCommand(api, memory);
    registerCorpus(api, memory);
    registerSlot(api, memory);
    registerHooks(api, memory); // in each of the other modes: agent runs use the registry of a discovery load
    if (mode !== LIVE) return;
    shared().api = api;
    registerService(api);
  },
};

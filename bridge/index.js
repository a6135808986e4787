// NeuralStream inside OpenClaw: registers what the host calls, and does nothing else. Python starts on first use.

import { homedir } from "node:os";
import { join } from "node:path";
import { registerHooks, registerService } from "./hooks.js";
import { Memory } from "./memory.js";
import { firstSight, shared } from "./shared.js";
import { registerCli, registerCommand, registerTools } from "./tools.js";

const NO_RUNTIME = new Set(["cli-metadata", "setup-only"]);
const NO_HOOKS = new Set(["discovery", "setup-runtime", ...NO_RUNTIME]);
const INSPECTED = "tool-discovery"; // `openclaw plugins inspect --runtime`: it lists hooks, and never calls them

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
    const mode = api.registrationMode ?? "full";
    registerCli(api, () => ({ python: api.pluginConfig?.python, stateDir: stateDirOf(api) }));
    if (NO_RUNTIME.has(mode)) return;
    const memory = new Memory(api, stateDirOf(api));
    registerTools(api, memory);
    registerCommand(api, memory);
    if (NO_HOOKS.has(mode)) return;
    if (mode !== INSPECTED) shared().api = api;
    registerHooks(api, memory);
    registerService(api);
  },
};

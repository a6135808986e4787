// Finding the Python that has NeuralStream installed, and starting its process.

import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const START_TIMEOUT_MS = 20_000;
const TOLD_STDERR = 600;

/** The process cannot be reached or started; `message` says what to type where that is known. */
export class ProcessAway extends Error {
  name = "ProcessAway";
}

/**
 * How to run our Python: { command, args, from }, or null when there is none.
 * Order: plugin config, NEURALSTREAM_PYTHON, the venv in the state directory, `neuralstream` on the path.
 */
export function findPython({ python, stateDir, env = process.env }) {
  const module = ["-m", "openclaw_neuralstream"];
  if (python) return { command: python, args: module, from: "the plugin's config" };
  if (env.NEURALSTREAM_PYTHON) return { command: env.NEURALSTREAM_PYTHON, args: module, from: "NEURALSTREAM_PYTHON" };
  const venv = join(stateDir, "venv", "bin", "python");
  if (executable(venv)) return { command: venv, args: module, from: "the state directory" };
  const script = onPath("neuralstream", env.PATH ?? "");
  return script ? { command: script, args: [], from: "the path" } : null;
}

/** The one line for a person who has no Python for us yet. */
export function howToInstall(stateDir) {
  const venv = join(stateDir, "venv");
  return `no Python with openclaw-neuralstream was found; type: python3 -m venv ${venv} && ${join(venv, "bin", "pip")} install openclaw-neuralstream`;
}

/**
 * Start the process in the background, or find the one that serves. Resolves to the content of serve.json.
 * hostConfig: the settings of the plugin, null for a program that keeps none.
 * Rejects with ProcessAway.
 */
export async function startProcess({ python, stateDir, env = process.env, hostConfig = null, timeoutMs = START_TIMEOUT_MS }) {
  const found = findPython({ python, stateDir, env });
  if (!found) throw new ProcessAway(howToInstall(stateDir));
  const args = [...found.args, "serve", "--state-dir", stateDir, "--background"];
  const child = spawn(found.command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: hostConfig ? { ...env, NEURALSTREAM_HOST_CONFIG: JSON.stringify(hostConfig) } : env,
    detached: true,
  });
  try {
    return await firstAnswer(child, timeoutMs);
  } catch (error) {
    child.kill();
    throw new ProcessAway(`${found.command} (from ${found.from}) did not start the memory process: ${error.message}`);
  } finally {
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    child.unref();
  }
}

function firstAnswer(child, timeoutMs) {
  return new Promise((resolve, reject) => {
    let complaint = "";
    const timer = setTimeout(() => reject(new Error(`nothing heard for ${timeoutMs} ms`)), timeoutMs);
    const settle = (act) => (value) => {
      clearTimeout(timer);
      act(value);
    };
    child.stderr.on("data", (chunk) => (complaint = (complaint + chunk).slice(-TOLD_STDERR)));
    child.once("error", settle(reject));
    // "close" comes after the last line of output, "exit" may come before it
    child.once("close", (code) => settle(reject)(new Error(lastLine(complaint) || `exit code ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const info = parsed(line);
      if (info?.address) settle(resolve)(info);
      else if (info?.error) settle(reject)(new Error(inWords(info.error)));
    });
  });
}

function inWords({ message, where, fix }) {
  return [message, where, fix].filter(Boolean).join(" · ");
}

function lastLine(text) {
  return text.trim().split("\n").at(-1);
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null; // anything else a library prints
  }
}

function onPath(name, path) {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(executable);
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

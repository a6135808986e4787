import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findPython, howToInstall, startProcess } from "../../bridge/start.js";
import { stateDir } from "./peer.mjs";

function script(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("the plugin's config comes first, then the environment, then our venv, then the path", (t) => {
  const folder = stateDir(t);
  const onPath = script(join(folder, "bin", "neuralstream"), "true");
  const env = { NEURALSTREAM_PYTHON: "/env/python", PATH: dirname(onPath) };
  assert.equal(findPython({ python: "/config/python", stateDir: folder, env }).command, "/config/python");
  assert.equal(findPython({ stateDir: folder, env }).command, "/env/python");
  const venv = script(join(folder, "venv", "bin", "python"), "true");
  assert.equal(findPython({ stateDir: folder, env: { PATH: env.PATH } }).command, venv);
  const other = stateDir(t);
  assert.deepEqual(findPython({ stateDir: other, env: { PATH: env.PATH } }), {
    command: onPath,
    args: [],
    from: "the path",
  });
});

test("without any Python the error is one line that says what to type", async (t) => {
  const folder = stateDir(t);
  await assert.rejects(startProcess({ stateDir: folder, env: { PATH: "" } }), (error) => {
    assert.equal(error.message, howToInstall(folder));
    assert.match(error.message, /type: python3 -m venv .* install openclaw-neuralstream/);
    assert.ok(!error.message.includes("\n"));
    return true;
  });
});

test("the start resolves to what the process prints when it is ready, whatever else is printed", async (t) => {
  const folder = stateDir(t);
  const python = script(join(folder, "python"), `echo warming up; echo '{"address":"unix:/x.sock","token":"t"}'; echo "$@" > ${folder}/args`);
  const info = await startProcess({ python, stateDir: folder });
  assert.equal(info.address, "unix:/x.sock");
});

test("a process that dies at the start is explained by its last words", async (t) => {
  const folder = stateDir(t);
  const python = script(join(folder, "python"), "echo trace >&2; echo 'No module named openclaw_neuralstream' >&2; exit 1");
  await assert.rejects(startProcess({ python, stateDir: folder }), /No module named openclaw_neuralstream/);
});

test("a Python that does not exist is named with where it came from", async (t) => {
  const folder = stateDir(t);
  await assert.rejects(startProcess({ python: "/no/such/python", stateDir: folder }), /\/no\/such\/python \(from the plugin's config\)/);
});

test("a start that never answers is given up", async (t) => {
  const folder = stateDir(t);
  const python = script(join(folder, "python"), "exec sleep 30");
  await assert.rejects(startProcess({ python, stateDir: folder, timeoutMs: 50 }), /nothing heard for 50 ms/);
});

test("an error that the process reports is passed on with its remedy", async (t) => {
  const folder = stateDir(t);
  const answer = '{"error":{"code":"state","message":"the state directory is read-only","where":"/x","fix":"make it writable"}}';
  const python = script(join(folder, "python"), `echo '${answer}'; exit 1`);
  await assert.rejects(startProcess({ python, stateDir: folder }), /read-only · \/x · make it writable/);
});

test("the process is started with the host's settings, so that it need not start again for them", async (t) => {
  const folder = stateDir(t);
  const python = script(join(folder, "python"), `printf '%s' "$NEURALSTREAM_HOST_CONFIG" > ${folder}/given; echo '{"address":"unix:/x"}'`);
  await startProcess({ python, stateDir: folder, hostConfig: { batch_size: 7 } });
  assert.equal(readFileSync(join(folder, "given"), "utf8"), '{"batch_size":7}');
});

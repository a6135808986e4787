// Where the agents' files are, as the host says it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { workspacesOf } from "../../bridge/workspaces.js";

const resolving = (resolveAgentWorkspaceDir) => ({ agent: { resolveAgentWorkspaceDir } });

test("every agent of the host has its workspace named", () => {
  const config = { agents: { entries: { main: {}, work: {} } } };
  const runtime = resolving((cfg, agent) => (cfg === config ? `/ws/${agent}` : ""));
  assert.deepEqual(workspacesOf({ config, runtime }), { main: "/ws/main", work: "/ws/work" });
});

test("a host without agents in its configuration has a main one", () => {
  assert.deepEqual(workspacesOf({ config: {}, runtime: resolving(() => "/ws") }), { main: "/ws" });
});

test("an agent that the host does not know any more is left out", () => {
  const config = { agents: { entries: { gone: {} } } };
  const runtime = resolving((_, agent) => {
    if (agent === "gone") throw new Error("unknown agent");
    return "/ws";
  });
  assert.deepEqual(workspacesOf({ config, runtime }), { main: "/ws" });
});

test("an older host says nothing, and nothing breaks", () => {
  for (const api of [null, {}, { runtime: {} }, { runtime: { agent: {} } }]) assert.deepEqual(workspacesOf(api), {});
});

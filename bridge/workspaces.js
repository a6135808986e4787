// Where the host keeps the files of its agents: told with the first word, so that they are indexed before the first turn.

/** Agent id → its workspace folder; {} on a host that does not say. */
export function workspacesOf(api) {
  const config = api?.config ?? {};
  const resolve = api?.runtime?.agent?.resolveAgentWorkspaceDir;
  if (typeof resolve !== "function") return {};
  const found = {};
  for (const agent of agentsOf(config)) {
    try {
      const folder = resolve(config, agent);
      if (typeof folder === "string" && folder) found[agent] = folder;
    } catch {
      // an agent that the host does not know any more
    }
  }
  return found;
}

function agentsOf(config) {
  const entries = config.agents?.entries;
  const named = entries && typeof entries === "object" ? Object.keys(entries) : [];
  return [...new Set(["main", ...named])];
}

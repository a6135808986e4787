// Our gems, facts and pages as one more corpus of the host's own memory search: beside it, never instead of it.

import { agentOf } from "./events.js";
import { isChild } from "./senders.js";
import { knownSpeaker } from "./shared.js";

const GROUP = /:(?:group|channel|room|thread|topic):/;

/** Register the supplement. What fails or takes too long is nothing found: the host's own results must never suffer. */
export function registerCorpus(api, memory) {
  api.registerMemoryCorpusSupplement?.({
    async search(params) {
      const asked = whoAsks(params);
      if (!asked || typeof params?.query !== "string" || !params.query.trim()) return [];
      const found = await memory.look("memory.search", { ...asked, query: params.query, limit: params.maxResults ?? 10 });
      return Array.isArray(found?.results) ? found.results : [];
    },
    async get(params) {
      const asked = whoAsks(params);
      if (!asked || typeof params?.lookup !== "string") return null;
      const { lookup, fromLine, lineCount } = params;
      const answer = await memory.look("memory.get", { ...asked, lookup, from_line: fromLine ?? 0, line_count: lineCount ?? 0 });
      return answer?.found ?? null;
    },
  });
}

/** The agent, session and speaker of a search; undefined for a group, or a sub-agent, of which nobody knows who speaks. */
export function whoAsks({ agentId, agentSessionKey, sandboxed } = {}) {
  const speaker = knownSpeaker(agentSessionKey);
  if (!speaker && (GROUP.test(agentSessionKey ?? "") || isChild(agentSessionKey))) return undefined;
  return {
    agent: agentId ?? agentOf(agentSessionKey),
    session_key: agentSessionKey ?? "",
    sandboxed: sandboxed === true,
    ...speaker,
    ...(isChild(agentSessionKey) ? { speaker } : {}),
  };
}

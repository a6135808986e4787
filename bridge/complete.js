// The process asks, the host's own model answers: `complete` over api.runtime.llm.

const DEFAULT_TIMEOUT_MS = 120_000;
const NOT_AUTHORIZED = "LLM_COMPLETION_NOT_AUTHORIZED";

/** Can this host complete at all? Reading `runtime` throws in the modes that have none. */
export function canComplete(api) {
  try {
    return typeof api.runtime?.llm?.complete === "function";
  } catch {
    return false;
  }
}

/** Serves requests of the process. apiNow(): the api of the latest registration. Rejects when the model fails. */
export function answerer(apiNow) {
  return async (method, params) => {
    if (method !== "complete") throw new Error(`unknown request: ${method}`);
    return complete(apiNow(), params);
  };
}

async function complete(api, { system, prompt, schema, agent, timeout_ms: timeoutMs }) {
  const request = {
    messages: [{ role: "user", content: String(prompt ?? "") }],
    ...(system ? { systemPrompt: system } : {}),
    ...(schema ? { responseFormat: { type: "json_schema", json_schema: { name: "answer", schema } } } : {}),
    purpose: "neuralstream.extract",
    signal: AbortSignal.timeout(timeoutMs ?? DEFAULT_TIMEOUT_MS),
  };
  const result = await forAgent(api, request, agent);
  return { text: result?.text ?? "", model: [result?.provider, result?.model].filter(Boolean).join("/") };
}

/** With that agent's own model where the operator allows it, else with the default agent's. */
async function forAgent(api, request, agentId) {
  if (!agentId) return api.runtime.llm.complete(request);
  try {
    return await api.runtime.llm.complete({ ...request, agentId });
  } catch (error) {
    if (error?.code !== NOT_AUTHORIZED) throw error;
    return api.runtime.llm.complete(request);
  }
}

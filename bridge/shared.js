// What every registration in this process shares. The host runs register() several times and reloads our modules,
// globalThis survives both: only data and the one connection live here, never a path of the module's own folder.

const KEY = Symbol.for("openclaw-neuralstream.bridge");
const REMEMBERED_RUNS = 500;
const REMEMBERED_SENDERS = 1000;
const REMEMBERED_CHILDREN = 500;
const REMEMBERED_TASKS = 50;
const TASK_BEGIN = "[Subagent Task]";
const TASK_END = "Begin. Execute the assigned task to completion.";

/** The shared state of this process, made on first use. */
export function shared() {
  globalThis[KEY] ??= {
    apis: new WeakSet(), // registrations already done
    runs: new Map(), // run id → { owner?, window?, project?, provenance?, prompt?, at?, indirect?, claimedBy? }
    senders: new Map(), // "channel:sender id" → is the owner
    children: new Map(), // session key of a sub-agent → { parent_key, label }
    spawns: new Map(), // session key of a parent → the last tasks it gave: [{ task, light }]
    briefs: new Map(), // session key and sender → the brief of the present window
    speakers: new Map(), // session key → { channel, sender }: who spoke last there
    counters: new Map(), // name → misses not yet reported
    api: null, // of the latest full registration: what the host's model is asked through
    client: null,
    clientKey: "",
    recallMs: undefined, // the deadline that the process told us
  };
  return globalThis[KEY];
}

/** Close the connection and forget everything; whoever comes next starts afresh. */
export function reset() {
  const state = globalThis[KEY];
  delete globalThis[KEY];
  state?.client?.close();
}

/** True exactly once per api object: a second register() with the same one must not double our hooks. */
export function firstSight(api) {
  const { apis } = shared();
  if (apis.has(api)) return false;
  apis.add(api);
  return true;
}

/** What is known about a run, remembered until it is over or 500 newer ones came. */
export function run(id) {
  const { runs } = shared();
  if (!id) return {};
  if (!runs.has(id)) {
    runs.set(id, {});
    bound(runs, REMEMBERED_RUNS);
  }
  return runs.get(id);
}

/** The run is over. */
export function forgetRun(id) {
  shared().runs.delete(id);
}

/** May this registration answer for the run? The first that asks may: two live registrations must not both inject. */
export function claim(id, registration) {
  const known = run(id);
  known.claimedBy ??= registration;
  return known.claimedBy === registration;
}

/** Remember whether this sender is the owner: the host says so only after the prompt has been built. */
export function learnSender(channel, id, isOwner) {
  if (!id || typeof isOwner !== "boolean") return;
  const { senders } = shared();
  senders.delete(`${channel ?? ""}:${id}`);
  senders.set(`${channel ?? ""}:${id}`, isOwner);
  bound(senders, REMEMBERED_SENDERS);
}

/** true, false, or undefined for a sender not met yet. */
export function knownSender(channel, id) {
  return shared().senders.get(`${channel ?? ""}:${id}`);
}

/** A sub-agent is about to be started; the host says no more than this, and says it only here. */
export function noteSpawn(parentKey, { task, lightContext } = {}) {
  if (!parentKey || typeof task !== "string" || !task) return;
  const { spawns } = shared();
  const tasks = [...(spawns.get(parentKey) ?? []), { task, light: lightContext === true }];
  spawns.delete(parentKey);
  spawns.set(parentKey, tasks.slice(-REMEMBERED_TASKS));
  bound(spawns, REMEMBERED_CHILDREN);
}

/** It has been started: whose child it is, and for whom it works, whoever speaks to its parent from now on. */
export function noteChild(childKey, parentKey, label) {
  if (!childKey || !parentKey) return;
  const speaker = knownSpeaker(parentKey);
  if (speaker) learnSpeaker(childKey, speaker);
  const { children } = shared();
  children.set(childKey, { parent_key: parentKey, ...(label ? { label: String(label) } : {}) });
  bound(children, REMEMBERED_CHILDREN);
}

/** What is known of a sub-agent by its session key, {} for any other session; prompt: what it was asked. */
export function child(key, prompt = "") {
  const known = shared().children.get(key);
  if (!known) return {};
  if (known.light === undefined && prompt) known.light = takeSpawn(known.parent_key, bareTask(prompt))?.light ?? false;
  const { light, ...told } = known;
  return light ? { ...told, light } : told;
}

/** The order of exactly this task, taken off the list: the next child of the same words has an order of its own. */
function takeSpawn(parentKey, bare) {
  const tasks = shared().spawns.get(parentKey) ?? [];
  const found = tasks.findIndex(({ task }) => task.trim() === bare);
  return found < 0 ? undefined : tasks.splice(found, 1)[0];
}

/** What a sub-agent was told, without the host's words around it. */
function bareTask(prompt) {
  const lines = prompt.split("\n");
  const begin = lines.findIndex((line) => line.trimStart().startsWith(TASK_BEGIN));
  const first = (lines[begin] ?? "").trimStart().slice(TASK_BEGIN.length).replace(/^:/, "");
  const task = (begin < 0 ? prompt : [first, ...lines.slice(begin + 1)].join("\n")).trim();
  return task.endsWith(TASK_END) ? task.slice(0, -TASK_END.length).trim() : task;
}

/** Remember who speaks in a session: a search of the host says in which session it is made, not for whom. */
export function learnSpeaker(sessionKey, speaker) {
  if (!sessionKey) return;
  const { speakers } = shared();
  speakers.delete(sessionKey);
  speakers.set(sessionKey, speaker);
  bound(speakers, REMEMBERED_SENDERS);
}

/** { channel, sender } of a session, undefined where nobody was heard. */
export function knownSpeaker(sessionKey) {
  return shared().speakers.get(sessionKey);
}

/** Keep the brief of a window: where an answer does not come in time, the request begins with the same bytes all the same. */
export function keepBrief(event, brief) {
  const { briefs } = shared();
  const key = briefKey(event);
  briefs.delete(key);
  if (brief) briefs.set(key, brief);
  bound(briefs, REMEMBERED_SENDERS);
}

/** The brief that stands in a window for this sender, "" for none. */
export function keptBrief(event) {
  return shared().briefs.get(briefKey(event)) ?? "";
}

/** Something was forgotten: no brief that may tell it is shown again. */
export function forgetBriefs() {
  shared().briefs.clear();
}

/** The window is over: the next one is briefed anew. */
export function dropBriefs(sessionKey) {
  const { briefs } = shared();
  for (const key of briefs.keys()) if (key.startsWith(`${sessionKey} `)) briefs.delete(key);
}

function briefKey({ agent, session_key, channel, sender, speaker, project }) {
  return `${session_key} ${JSON.stringify([agent, channel, sender, speaker, project])}`;
}

/** Count a miss; it is reported to the process when it answers again. */
export function count(name) {
  const { counters } = shared();
  counters.set(name, (counters.get(name) ?? 0) + 1);
}

/** Take the counts not yet reported, {} when there are none. */
export function takeCounts() {
  const { counters } = shared();
  const taken = Object.fromEntries(counters);
  counters.clear();
  return taken;
}

/** Put counts back that could not be reported. */
export function returnCounts(counts) {
  const { counters } = shared();
  for (const [name, by] of Object.entries(counts)) counters.set(name, (counters.get(name) ?? 0) + by);
}

function bound(map, most) {
  while (map.size > most) map.delete(map.keys().next().value);
}

// Is the sender the owner? The host says so only after the prompt has been built, so for recall we go by what we know.

import { knownSender, knownSpeaker } from "./shared.js";

const CHILD = /:subagent:/;
const ROUTED = new Set(["inter_session", "internal_system"]);
const OWN_SURFACES = new Set([undefined, "webchat"]); // the command line and the owner's own page

/** true, false, or null when nothing is known: a stranger in a group must not be shown the owner's memory. */
export function isOwner(api, ctx) {
  const channel = ctx.channel ?? ctx.messageProvider;
  const known = knownSender(ctx.channel, ctx.senderId);
  if (known !== undefined) return known;
  if (OWN_SURFACES.has(channel) || !ctx.senderId) return null;
  const owners = ownersOf(api);
  if (owners.length === 0) return null;
  return owners.some((owner) => owner === "*" || owner === ctx.senderId || owner === `${channel}:${ctx.senderId}`);
}

/** Is this the conversation of a sub-agent? */
export function isChild(sessionKey) {
  return CHILD.test(sessionKey ?? "");
}

/** Does nobody speak for himself here: a sub-agent's conversation, or a message that another session sent? */
export function isIndirect(sessionKey, provenance) {
  return isChild(sessionKey) || ROUTED.has(provenance?.kind);
}

/** For whom a sub-agent works, under the name that Python gives him; undefined for the owner. */
export function userOfChild(sessionKey) {
  const speaker = knownSpeaker(sessionKey);
  if (!speaker) return `unknown:${sessionKey}`;
  const { channel, sender: { id, name, owner } = {} } = speaker;
  const stranger = owner === false || (owner !== true && id && !OWN_SURFACES.has(channel) && channel !== "cli");
  return stranger ? `${channel || "unknown"}:${id || name || "unknown"}` : undefined;
}

function ownersOf(api) {
  try {
    const config = api.runtime?.config?.current?.() ?? api.config;
    const owners = config?.commands?.ownerAllowFrom;
    return Array.isArray(owners) ? owners.map(String) : [];
  } catch {
    return []; // a host without this configuration
  }
}

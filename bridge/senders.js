// Is the sender the owner? The host says so only after the prompt has been built, so for recall we go by what we know.

import { knownSender } from "./shared.js";

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

function ownersOf(api) {
  try {
    const config = api.runtime?.config?.current?.() ?? api.config;
    const owners = config?.commands?.ownerAllowFrom;
    return Array.isArray(owners) ? owners.map(String) : [];
  } catch {
    return []; // a host without this configuration
  }
}

// What people and the agent can ask for: four agent tools, a slash command, and `openclaw neuralstream …`.

import { spawn } from "node:child_process";
import { agentOf } from "./events.js";
import { isChild, userOfChild } from "./senders.js";
import { findPython, howToInstall } from "./start.js";

const ID = "neuralstream";
const text = (description) => ({ type: "string", minLength: 1, description });

/** name, method and parameters of the agent tools. */
export const TOOLS = [
  {
    name: "neuralstream_recall",
    method: "tool.recall",
    label: "Recall from memory",
    description:
      "Search long-term memory of earlier conversations (facts, decisions, preferences, to-dos). Use it when the " +
      "user refers to something that is not in this conversation.",
    properties: { query: text("What to look for, in the user's own words") },
    required: ["query"],
  },
  {
    name: "neuralstream_remember",
    method: "tool.remember",
    label: "Remember",
    description: "Keep something in long-term memory because the user asked for it to be remembered.",
    properties: { text: text("One self-contained sentence: who, what, when") },
    required: ["text"],
  },
  {
    name: "neuralstream_retain",
    method: "tool.retain",
    label: "Retain in today's log",
    description:
      "Write one durable fact into today's memory file under its Retain heading, in the right form. Form of the text: " +
      "`W @Name: …` world, `B @Name: …` what you did, `O(c=0.9) @Name: …` an opinion and how sure it is, or a plain sentence.",
    properties: { text: text("One self-contained sentence, with @Name for whom or what it is about") },
    required: ["text"],
  },
  {
    name: "neuralstream_forget",
    method: "tool.forget",
    label: "Forget",
    description: "Remove something from long-term memory because the user asked for it to be forgotten.",
    properties: { what: text("What to forget: the id of a record, or words that only it contains") },
    required: ["what"],
  },
  {
    name: "neuralstream_reflect",
    method: "tool.reflect",
    label: "Reflect",
    description:
      "Refresh the pages about people, places and projects (bank/entities), the opinions (bank/opinions.md) and the " +
      "slim part of MEMORY.md from what was learnt. Use it when the user asks for it; it runs by itself once a day.",
    properties: {},
    required: [],
  },
];

/** Register the agent tools. A failure is an answer to the model, never an error of the turn. */
export function registerTools(api, memory) {
  for (const tool of TOOLS) {
    api.registerTool?.((ctx) => agentTool(tool, ctx ?? {}, memory), { name: tool.name });
  }
}

function agentTool({ name, method, label, description, properties, required }, ctx, memory) {
  return {
    name,
    label,
    description,
    parameters: { type: "object", properties, required, additionalProperties: false },
    async execute(_callId, params) {
      return said(await answer(memory, method, { ...params, ...caller(ctx) }));
    },
  };
}

/** Whose memory is asked: a sender whom the host does not call the owner has one of his own. */
function caller(ctx) {
  const user = isChild(ctx.sessionKey) ? userOfChild(ctx.sessionKey) : outsider(ctx);
  return {
    agent: ctx.agentId ?? agentOf(ctx.sessionKey),
    session_key: ctx.sessionKey ?? "",
    ...(user ? { user } : {}),
  };
}

function outsider(ctx) {
  return ctx.senderIsOwner === false ? `${channelOf(ctx)}:${ctx.requesterSenderId ?? ctx.senderId ?? "unknown"}` : undefined;
}

/** The same number on two channels is two people. */
function channelOf(ctx) {
  return ctx.messageChannel ?? ctx.channel ?? "unknown";
}

function said(words) {
  return { content: [{ type: "text", text: words }], details: {} };
}

/** `/neuralstream …` in a chat. The host lets only authorised senders in. */
export function registerCommand(api, memory) {
  api.registerCommand?.({
    name: ID,
    description: "What is remembered: status, recall, gems (try /neuralstream help)",
    acceptsArgs: true,
    requireAuth: true,
    handler: async (ctx) => ({ text: await answer(memory, "command", { args: ctx?.args ?? "", ...caller(ctx ?? {}) }) }),
  });
}

async function answer(memory, method, params) {
  try {
    const { text: words } = await memory.ask(method, params);
    return words || "Nothing found.";
  } catch (error) {
    return `Memory is not available right now: ${error.message}`;
  }
}

/** `openclaw neuralstream …`: the Python command line, with this terminal. memory() is asked for only when it runs. */
export function registerCli(api, place) {
  const description = "NeuralStream: status, search, edit and forget what is remembered";
  api.registerCli?.(
    ({ program }) => {
      program
        .command(ID)
        .description(description)
        .argument("[args...]", "see: openclaw neuralstream help")
        .allowUnknownOption()
        .helpOption(false)
        .action(async (args) => {
          process.exitCode = await forward(args, place());
        });
    },
    { descriptors: [{ name: ID, description, hasSubcommands: true }] },
  );
}

async function forward(args, { python, stateDir }) {
  const found = findPython({ python, stateDir });
  if (!found) {
    console.error(`neuralstream: ${howToInstall(stateDir)}`);
    return 1;
  }
  const env = { ...process.env, NEURALSTREAM_STATE_DIR: stateDir };
  const command = args[0] === "help" ? ["--help", ...args.slice(1)] : args;
  const child = spawn(found.command, [...found.args, ...command], { stdio: "inherit", env });
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`neuralstream: ${found.command} (from ${found.from}): ${error.message}`);
      resolve(1);
    });
    child.once("close", (code) => resolve(code ?? 1));
  });
}

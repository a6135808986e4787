import assert from "node:assert/strict";
import { test } from "node:test";
import { agentOf, ofSession, ofThisTurn, project, promptBuild, turnBegin, turnEnd, unattended } from "../../bridge/events.js";

const ctx = {
  runId: "r2",
  agentId: "main",
  sessionKey: "agent:main:s",
  sessionId: "u-1",
  trigger: "user",
  channel: "webchat",
  workspaceDir: "/ws",
  senderId: "cli",
};
const user = (text, run, extra = {}) => ({ role: "user", content: text, timestamp: 5, ...(run ? { idempotencyKey: `${run}:user` } : {}), ...extra });
const said = (text, extra = {}) => ({ role: "assistant", content: [{ type: "text", text }], ...extra });
const history = [user("old question", "r1"), said("old answer", { __openclaw: { runId: "r1" } })];

test("only the messages of this turn are sent", () => {
  const messages = [...history, user("new question", "r2"), said("new answer")];
  const { messages: sent } = turnEnd({ messages, runId: "r2" }, ctx, {});
  assert.deepEqual(
    sent.map((m) => m.content),
    ["new question", [{ type: "text", text: "new answer" }]],
  );
});

test("messages steered into the turn belong to it, and speak for their own sender", () => {
  const steered = user("and another thing", "other", { __openclaw: { senderIsOwner: false, senderName: "Gustav", media: [1] } });
  const messages = [...history, user("first", "r2"), said("working"), steered, said("done")];
  const { messages: sent } = turnEnd({ messages, runId: "r2" }, ctx, {});
  assert.equal(sent.length, 4);
  assert.deepEqual(sent[2].__openclaw, { senderIsOwner: false, senderName: "Gustav" });
});

test("a turn that the host did not mark starts after the last message of another run", () => {
  const messages = [...history, user("queued one"), said("ok"), user("queued two"), said("fine")];
  assert.deepEqual(ofThisTurn(messages, "r9").map((m) => m.content)[0], "queued one");
});

test("without any mark at all the turn starts at the last user message", () => {
  const messages = [user("a"), said("b"), user("c"), said("d")];
  assert.equal(ofThisTurn(messages, "r9")[0].content, "c");
  assert.deepEqual(ofThisTurn([said("alone")], "r9"), [said("alone")]);
  assert.deepEqual(ofThisTurn([], "r9"), []);
});

test("usage is the prompt of the last model call, cached tokens included", () => {
  const usage = { input: 15_000, cacheRead: 5_000, cacheWrite: 0, output: 40, totalTokens: 20_040 };
  const messages = [user("q", "r2"), said("call", { usage: { input: 9 } }), said("end", { usage })];
  const sent = turnEnd({ messages, runId: "r2" }, ctx, { known: { window: 32_000 } });
  assert.deepEqual(sent.usage, { tokens: 20_000, context_window: 32_000 });
});

test("usage is null when the model failed or the window is unknown", () => {
  const failed = [user("q", "r2"), said("", { stopReason: "error", usage: { input: 0 } })];
  assert.equal(turnEnd({ messages: failed, runId: "r2" }, ctx, { known: { window: 32_000 } }).usage, null);
  const fine = [user("q", "r2"), said("a", { usage: { input: 10 } })];
  assert.equal(turnEnd({ messages: fine, runId: "r2" }, ctx, {}).usage, null);
});

test("what memory never reads is not sent: images, details, the host's own notes", () => {
  const messages = [
    { role: "user", idempotencyKey: "r2:user", content: [{ type: "text", text: "look" }, { type: "image", data: "A".repeat(99) }] },
    said("calling", { usage: { input: 1 }, content: [{ type: "toolCall", id: "1", name: "exec", arguments: { command: "ls" } }] }),
    { role: "toolResult", toolName: "exec", content: [{ type: "text", text: "x".repeat(9_000) }], details: { aggregated: "y" }, isError: false },
    { role: "custom", customType: "openclaw.runtime-context", content: "hidden" },
  ];
  const sent = turnEnd({ messages, runId: "r2" }, ctx, {}).messages;
  assert.deepEqual(sent[0].content, [{ type: "text", text: "look" }, { type: "image" }]);
  assert.deepEqual(sent[1].content, [{ type: "toolCall", name: "exec" }]);
  assert.equal(sent[2].content[0].text.length, 4_000);
  assert.equal(sent[2].details, undefined);
  assert.equal(sent.length, 3);
});

test("the owner bit is the run's, else that of the stored message, else unknown", () => {
  const messages = [user("q", "r2", { __openclaw: { senderIsOwner: true } })];
  assert.equal(turnEnd({ messages }, ctx, { known: { owner: false } }).sender.owner, false);
  assert.equal(turnEnd({ messages }, ctx, {}).sender.owner, true);
  assert.equal(turnEnd({ messages: [user("q", "r2")] }, ctx, {}).sender.owner, null);
});

test("the time of a turn is its user message's", () => {
  assert.equal(turnEnd({ messages: [user("q", "r2")] }, ctx, { at: 99 }).at, 5);
  assert.equal(turnEnd({ messages: [] }, ctx, { at: 99 }).at, 99);
});

test("a turn begins with the message alone, in the form in which it ends", () => {
  const begun = turnBegin(ctx, { prompt: "new question", at: 7, owner: true, project: "git:host/owner/repo" });
  const ended = turnEnd({ messages: [user("new question", "r2", { timestamp: 7 })], runId: "r2" }, ctx, { known: { owner: true, project: "git:host/owner/repo" } });
  assert.deepEqual(begun.messages, [{ role: "user", content: "new question", timestamp: 7 }]);
  for (const name of ["run_id", "agent", "session_key", "session_id", "trigger", "channel", "sender", "project", "at"]) assert.deepEqual(begun[name], ended[name]);
});

test("a message that the host repeats before this one, because nobody answered it, is not part of the turn", () => {
  const merged = "[Queued user message from a previous active turn; preserved as context only. Continue with the active prompt below.]\nold one\n\nnew one";
  const sent = (known) => turnEnd({ messages: [user(merged, "r2"), said("done")], runId: "r2" }, ctx, { known }).messages[0].content;
  assert.equal(sent({ prompt: "new one" }), "new one");
  assert.equal(sent({}), merged);
});

test("provenance of an announced turn comes from the prompt's event", () => {
  const announced = { kind: "inter_session", sourceTool: "subagent_announce" };
  assert.deepEqual(turnEnd({ messages: [] }, ctx, { known: { provenance: announced } }).provenance, announced);
});

test("a prompt is asked with the dialogue before it, oldest first, tools left out", () => {
  const tool = { role: "toolResult", content: [{ type: "text", text: "file list" }] };
  const event = { prompt: "and now?", messages: [...history, tool] };
  const asked = promptBuild(event, ctx, { owner: true, at: 7 });
  assert.deepEqual(asked.dialogue, [
    { role: "user", text: "old question" },
    { role: "assistant", text: "old answer" },
  ]);
  assert.equal(asked.prompt, "and now?");
  assert.deepEqual(asked.window_runs, ["r1"]);
  assert.match(asked.window_text, /old question\nold answer\nfile list/);
  assert.deepEqual(asked.sender, { id: "cli", owner: true });
});

test("at most twelve messages and 64 KB of the window are sent, the newest", () => {
  const messages = Array.from({ length: 40 }, (_, n) => user(`${n} ${"w".repeat(9_000)}`, `r${n}`));
  const asked = promptBuild({ prompt: "q", messages }, ctx, {});
  assert.equal(asked.dialogue.length, 12);
  assert.match(asked.dialogue.at(-1).text, /^39 /);
  assert.equal(asked.dialogue.at(-1).text.length, 8_000);
  assert.equal(asked.window_text.length, 65_536);
});

test("the current user message is preferred to a prompt that may hold history, even when it is empty", () => {
  assert.equal(promptBuild({ prompt: "history + q", currentUserMessage: "q" }, ctx, {}).prompt, "q");
  assert.equal(promptBuild({ prompt: "history", currentUserMessage: "" }, ctx, {}).prompt, "");
});

test("a host that leaves everything out gets an event that is still well formed", () => {
  const asked = promptBuild({}, {}, {});
  assert.equal(asked.agent, "main");
  assert.equal(asked.prompt, "");
  assert.deepEqual(asked.dialogue, []);
  const ended = turnEnd({}, {}, {});
  assert.deepEqual(ended.messages, []);
  assert.equal(ended.usage, null);
  assert.doesNotThrow(() => turnEnd({ messages: [null, 7, "x", { role: "user", content: [null, 3, {}] }] }, {}, {}));
});

test("heartbeat, cron and memory runs are nobody's words", () => {
  assert.deepEqual(["heartbeat", "cron", "memory", "user", undefined].map((trigger) => unattended({ trigger })), [true, true, true, false, false]);
});

test("the agent of an event that names none is read from the session key", () => {
  assert.equal(agentOf("agent:work:main"), "work");
  assert.equal(agentOf("whatever"), "main");
  assert.deepEqual(ofSession({ reason: "new", sessionId: "u" }, { sessionKey: "agent:work:main" }), {
    agent: "work",
    session_key: "agent:work:main",
    session_id: "u",
    reason: "new",
  });
});

test("the workspace itself is no project", () => {
  assert.equal(project({ activeProjectKeys: ["path:/ws"], workspaceDir: "/ws" }), undefined);
  assert.equal(project({ activeProjectKeys: ["git:host/owner/repo"], workspaceDir: "/ws" }), "git:host/owner/repo");
  assert.equal(project({ activeProjectKeys: ["a", "b"] }), undefined);
});

"""A scripted model behind an OpenAI-compatible address, in this process: it logs each request and answers as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "fake-1"
PROVIDER = "fake"
_HOST_CONTEXT = "BEGIN_OPENCLAW_INTERNAL_CONTEXT"
_SUMMARIZER = "context summarization assistant"
_SUMMARY = "\n\n".join(
    f"## {title}\nNone."
    for title in ("Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
)


@dataclass(frozen=True)
class Reply:
    """What the model says: text or tool calls (name, arguments), and the prompt size it reports (None = counted)."""

    text: str = "Noted."
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    prompt_tokens: int | None = None
    status: int = 200


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or [])

    @property
    def system(self) -> str:
        return "\n".join(text_of(m) for m in self.messages if m["role"] in ("system", "developer"))

    @property
    def asked(self) -> str:
        """The last message that the user wrote, with what the host and plugins put around it."""
        mine = [m for m in self.messages if m["role"] == "user" and _HOST_CONTEXT not in text_of(m)[:100]]
        return text_of(mine[-1]) if mine else ""

    @property
    def is_summary(self) -> bool:
        return _SUMMARIZER in self.system

    @property
    def after_tool(self) -> bool:
        """Whether a tool has answered since the user spoke."""
        last = max((i for i, m in enumerate(self.messages) if m["role"] == "user" and _HOST_CONTEXT not in text_of(m)[:100]), default=-1)
        return any(m["role"] == "tool" for m in self.messages[last + 1 :])

    @property
    def tools(self) -> list[str]:
        return [tool.get("function", {}).get("name", "") for tool in self.body.get("tools") or []]

    def __str__(self) -> str:
        return "\n".join(text_of(m) for m in self.messages)

    def wire(self) -> str:
        """Tools and messages in the order in which a provider reads them, for measuring shared prefixes."""
        return json.dumps(self.body.get("tools") or []) + "".join(json.dumps(m) for m in self.messages)


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


class FakeModel:
    """Answers on a port of its own. `answer` decides; by default it says "Noted." and never repeats what it read."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Reply] = lambda _: Reply()
        self._changed = threading.Condition()
        self._open = threading.Event()
        self._open.set()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                models = [{"id": NAME, "object": "model", "created": 1, "owned_by": PROVIDER}]
                _send_json(self, {"object": "list", "data": models})

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path.endswith("/chat/completions"):
                    model._complete(self, json.loads(raw))
                else:
                    _send_json(self, {"error": {"message": "not here"}}, 404)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, name="fake-model", daemon=True).start()

    def close(self) -> None:
        self._open.set()
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> None:
        """Forget the requests and answer plainly again."""
        self._open.set()
        self.requests.clear()
        self.answer = lambda _: Reply()

    def hold(self) -> None:
        """Keep every answer back until `let_go`."""
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    def wait_for(self, wanted: Callable[[Request], bool], timeout: float = 60) -> Request:
        """The first request that is wanted, now or when it comes."""
        until = time.monotonic() + timeout
        with self._changed:
            while True:
                for request in list(self.requests):
                    if wanted(request):
                        return request
                left = until - time.monotonic()
                assert left > 0, f"no such request among {len(self.requests)}: {[r.asked[:80] for r in self.requests]}"
                self._changed.wait(left)

    def _complete(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        request = Request(body)
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        self._open.wait(60)
        reply = Reply(_SUMMARY) if request.is_summary else self.answer(request)
        if reply.status != 200:
            _send_json(handler, {"error": {"message": "as scripted", "type": "fake"}}, reply.status)
        elif body.get("stream"):
            _send_stream(handler, reply, _usage(request, reply), len(self.requests))
        else:
            message = {"role": "assistant", "content": reply.text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            _send_json(handler, {"id": "c", "object": "chat.completion", "created": 1, "model": NAME, "choices": [choice], "usage": _usage(request, reply)})


def _usage(request: Request, reply: Reply) -> dict[str, Any]:
    prompt = reply.prompt_tokens if reply.prompt_tokens is not None else len(request.wire()) // 4
    return {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5, "prompt_tokens_details": {"cached_tokens": 0}}


def _send_json(handler: BaseHTTPRequestHandler, value: object, status: int = 200) -> None:
    data = json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def _send_stream(handler: BaseHTTPRequestHandler, reply: Reply, usage: dict[str, Any], number: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    calls = [
        {"index": i, "id": f"call_{number}_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(reply.calls)
    ]
    said: list[dict[str, Any]] = [{"role": "assistant", "content": "" if calls else reply.text}]
    said += [{"tool_calls": [call]} for call in calls]
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in said]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]})
    chunks.append({"choices": [], "usage": usage})
    try:
        for chunk in chunks:
            common = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": NAME}
            handler.wfile.write(b"data: " + json.dumps(common | chunk).encode() + b"\n\n")
        handler.wfile.write(b"data: [DONE]\n\n")
    except OSError:
        pass  # the host hung up (an aborted turn)

"""Serves the live view's page, its snapshots and the page's changes, on this machine only.

Pages of other sites can neither read the stream nor make changes: requests must name this machine
as their host, and a change needs a header that browsers do not send to other sites.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Self

import uvicorn
from plotly.offline import get_plotlyjs
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.live.feed import Change, Control, ControlError, Feed

HERE: Final = Path(__file__).parent
HOSTS: Final = ["127.0.0.1", "localhost"]
HEADER: Final = "x-narrows"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data:"
)
"""Plotly writes styles into its charts."""
INTERVAL_S: Final = 0.1
MOST_BYTES: Final = 1000
"""Of a change."""
END_S: Final = 2


class LiveServer:
    """The page, from `__enter__` to `__exit__`, on a thread of its own."""

    def __init__(self, feed: Feed, control: Control, port: int = 0) -> None:
        self.feed = feed
        self.control = control
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
            # Early connections wait for the server.
            self._socket.listen()
        except OSError as error:
            self._socket.close()
            raise InputError("--live", [Problem(str(port), str(error.strerror))]) from None
        config = uvicorn.Config(
            self.application(), log_level="error", lifespan="off", timeout_graceful_shutdown=END_S
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="live view", daemon=True
        )

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.feed.close()
        self._server.should_exit = True
        self._thread.join(2 * END_S)
        self._socket.close()

    def application(self) -> Starlette:
        """The routes."""
        return Starlette(
            routes=[
                Route("/", self.file("page.html", "text/html")),
                Route("/live.css", self.file("live.css", "text/css")),
                Route("/live.js", self.file("live.js", "text/javascript")),
                Route("/plotly.js", plotly),
                Route("/events", self.events),
                Route("/change", self.change, methods=["POST"]),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
        )

    @staticmethod
    def file(name: str, kind: str) -> Response:
        """A file of this package."""
        headers = {"content-security-policy": POLICY}
        return Response((HERE / name).read_text("utf-8"), media_type=kind, headers=headers)

    async def events(self, _: Request) -> StreamingResponse:
        """Snapshots as server-sent events, at most ten a second."""
        return StreamingResponse(self._lines(), media_type="text/event-stream")

    async def _lines(self) -> AsyncIterator[str]:
        last = 0
        while not self.feed.is_closed:
            number, snapshot = self.feed.latest
            if number != last and snapshot is not None:
                last = number
                yield f"data: {json.dumps(snapshot.as_json())}\n\n"
            await asyncio.sleep(INTERVAL_S)

    async def change(self, request: Request) -> JSONResponse:
        """Makes a change; answers with the reason where it is refused."""
        if HEADER not in request.headers:
            return JSONResponse({"error": f"expected the header {HEADER}"}, 403)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                # What is still to come is not read.
                return JSONResponse({"error": "is too long"}, 400, {"connection": "close"})
        try:
            change = Change.from_json(json.loads(body))
        except (ValueError, RecursionError) as error:
            return JSONResponse({"error": str(error)}, 400)
        try:
            await self.control(change)
        except ControlError as error:
            return JSONResponse({"error": str(error)}, 409)
        return JSONResponse({})


async def plotly(_: Request) -> Response:
    """Plotly's script, of its Python package."""
    return Response(get_plotlyjs(), media_type="text/javascript")

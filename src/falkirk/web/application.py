"""The addresses of the dashboard, and who answers there."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from falkirk.core.errors import ConfigurationError, FalkirkError
from falkirk.inspection.asking import StalePlanError
from falkirk.telemetry.prometheus import PrometheusListener
from falkirk.web.access import Guard
from falkirk.web.answers import Answers
from falkirk.web.feed import Feed
from falkirk.web.pages import encoded

STATIC = Path(__file__).parent / "static"
HEARTBEAT_SECONDS = 10.0
RETRY_MILLISECONDS = 1000
BODY_BYTES_MAX = 1 << 20
FRESH = {"cache-control": "no-cache"}


class Application:
    """Answers what pages ask."""

    def __init__(self, feed: Feed, answers: Answers, metrics: PrometheusListener | None) -> None:
        """From a feed, a store, and metrics if there are any."""
        self.feed, self.answers, self.metrics = feed, answers, metrics

    def routes(self) -> list[Route | Mount]:
        """Where what is."""
        return [
            Route("/", self.page),
            Route("/metrics", self.exposition),
            Route("/api/state", self.state),
            Route("/api/events", self.events),
            Route("/api/explain/{processor:path}", self.explain),
            Route("/api/storage", self.storage),
            Route("/api/pins/plan", self.plan_pin, methods=["POST"]),
            Route("/api/pins", self.pin, methods=["POST"]),
            Route("/api/pins/remove", self.unpin, methods=["POST"]),
            Route("/api/what-if", self.what_if, methods=["POST"]),
            Route("/api/repair", self.repairs),
            Route("/api/repair/plan", self.plan, methods=["POST"]),
            Route("/api/repair/apply", self.apply, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    async def page(self, _: Request) -> Response:
        """The page."""
        return FileResponse(STATIC / "index.html", headers=FRESH)

    async def exposition(self, _: Request) -> Response:
        """Metrics for Prometheus."""
        if self.metrics is None:
            message = "metrics come from the run itself: falkirk run --ui, or --metrics-port"
            return JSONResponse({"error": message}, 404)
        return Response(self.metrics.text(), media_type=self.metrics.content_type)

    async def state(self, _: Request) -> Response:
        """All that a page shows."""
        return Response(encoded(self.feed.everything()), media_type="application/json")

    async def events(self, _: Request) -> Response:
        """The same, and then what changes, as server-sent events."""
        return StreamingResponse(
            self._told(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def _told(self) -> AsyncIterator[str]:
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        with self.feed.opened(asyncio.get_running_loop()) as queue:
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if message is None:
                    return
                kind, text = message
                yield f"event: {kind}\ndata: {text}\n\n"

    async def explain(self, request: Request) -> Response:
        """Why a processor stands where it does."""
        return await answered(self.answers.explain, request.path_params["processor"])

    async def storage(self, _: Request) -> Response:
        """What is kept."""
        return await answered(self.answers.storage)

    async def plan_pin(self, request: Request) -> Response:
        """What a pin would keep."""
        return await self._pin(request, self.answers.plan_pin)

    async def pin(self, request: Request) -> Response:
        """Pins the present."""
        return await self._pin(request, self.answers.pin)

    async def _pin(self, request: Request, question: Callable[..., dict[str, Any]]) -> Response:
        asked = await body(request)
        if isinstance(asked, Response):
            return asked
        name, why = (str(asked.get(key, "")) for key in ("name", "why"))
        return await answered(question, name, asked.get("outputs") is True, why)

    async def unpin(self, request: Request) -> Response:
        """Lets a pin go."""
        asked = await body(request)
        if isinstance(asked, Response):
            return asked
        given = [str(asked.get(key, "")) for key in ("name", "confirm", "why")]
        return await answered(self.answers.unpin, *given)

    async def repairs(self, _: Request) -> Response:
        """Which repairs there were."""
        return await answered(self.answers.repairs)

    async def what_if(self, request: Request) -> Response:
        """What would happen."""
        asked = await body(request)
        if isinstance(asked, Response):
            return asked
        return await answered(self.answers.what_if, texts(asked.get("failed")))

    async def plan(self, request: Request) -> Response:
        """A plan for a repair."""
        asked = await body(request)
        if isinstance(asked, Response):
            return asked
        return await answered(self.answers.plan, texts(asked.get("to")))

    async def apply(self, request: Request) -> Response:
        """Carries a plan out."""
        asked = await body(request)
        if isinstance(asked, Response):
            return asked
        given = [str(asked.get(key, "")) for key in ("id", "confirm", "reason")]
        return await answered(self.answers.apply, *given)


def application(
    feed: Feed,
    answers: Answers,
    metrics: PrometheusListener | None = None,
    token: str | None = None,
) -> ASGIApp:
    """The dashboard as an application; ``token`` is asked for if there is one."""
    return Guard(Starlette(routes=Application(feed, answers, metrics).routes()), token)


async def answered(question: Callable[..., dict[str, Any]], *args: Any) -> Response:
    """The answer, or what is wrong: 409 if a plan is stale, 400 if somebody asked amiss."""
    try:
        found = await run_in_threadpool(question, *args)
    except FalkirkError as error:
        status = 409 if isinstance(error, StalePlanError) else 400
        return JSONResponse({"error": str(error), "code": error.code}, status)
    return Response(encoded(found), media_type="application/json", headers=FRESH)


async def body(request: Request) -> dict[str, Any] | Response:
    """The JSON object of a request, or a complaint."""
    written = b""
    async for piece in request.stream():
        written += piece
        if len(written) > BODY_BYTES_MAX:
            return JSONResponse({"error": "that is too long"}, 413)
    try:
        value = json.loads(written)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        error = ConfigurationError("the body of the request must be a JSON object")
        return JSONResponse({"error": str(error), "code": error.code}, 400)
    return value


def texts(value: Any) -> list[str]:
    """A list of texts, whatever came."""
    return [str(each) for each in value] if isinstance(value, list) else []

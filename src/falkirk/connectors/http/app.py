"""The web application: one address that takes rows as JSON and answers when the flow has."""

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from falkirk.connectors.http.body import parsed
from falkirk.connectors.http.desk import Desk, Refused
from falkirk.connectors.http.misfit import Misfit
from falkirk.connectors.http.schema import Schema
from falkirk.connectors.http.ticket import Outcome

KEY_LENGTH_MAX = 255
LATE = Outcome(
    504,
    problem="there was no answer in time: retry, with the same Idempotency-Key if you sent one",
    retry_seconds=1,
)
UNKNOWN = Outcome(401, problem="a bearer token is needed, and this is not it")


@dataclass(frozen=True, slots=True)
class Service:
    """What a request is measured by, and where it goes."""

    desk: Desk
    schema: Schema
    path: str
    token: str | None = field(repr=False)
    body_bytes_max: int
    timeout_seconds: float

    def app(self) -> Starlette:
        """The application."""
        return Starlette(routes=[Route(self.path, self.serve, methods=["POST"])])

    async def serve(self, request: Request) -> Response:
        """Answers one request."""
        try:
            self.check_token(request)
            async with asyncio.timeout(self.timeout_seconds):
                body = await self.body(request)
                outcome, single = await self.processed(body, key_of(request))
        except Refused as refused:
            outcome, single = refused.outcome, False
        except Misfit as misfit:
            outcome, single = Outcome(400, problem=misfit.problem, place=misfit.place), False
        except TimeoutError:
            outcome, single = LATE, False
        return response(outcome, single)

    def check_token(self, request: Request) -> None:
        """Refuses who does not have the token."""
        given = request.headers.get("authorization", "")
        kind, _, token = given.partition(" ")
        if self.token is not None and not (
            kind.lower() == "bearer" and hmac.compare_digest(token.encode(), self.token.encode())
        ):
            raise Refused(UNKNOWN)

    async def body(self, request: Request) -> bytes:
        """All bytes of the body, if they are not too many."""
        too_long = Outcome(
            413,
            problem=f"a body has at most {self.body_bytes_max} bytes: send the rows in several",
        )
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.body_bytes_max:
            raise Refused(too_long)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > self.body_bytes_max:
                raise Refused(too_long)
        return bytes(body)

    async def processed(self, body: bytes, key: str | None) -> tuple[Outcome, bool]:
        """What the flow makes of the rows; and whether a single object was asked about."""
        value = parsed(body)
        rows = self.schema.rows(value)
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Outcome] = loop.create_future()

        def told(outcome: Outcome) -> None:
            loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result(outcome))

        digest = hashlib.sha256(body).digest()
        ticket = self.desk.hand_in(key, rows, len(body), digest, told)
        try:
            return await ended, not isinstance(value, list)
        finally:
            self.desk.leave(ticket, told)


def key_of(request: Request) -> str | None:
    """The idempotency key of a request, if it has one."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= KEY_LENGTH_MAX:
        raise Misfit("Idempotency-Key", f"a key has from 1 to {KEY_LENGTH_MAX} characters")
    return key


def response(outcome: Outcome, single: bool) -> Response:
    """An outcome in HTTP. One object is answered by one if there is one row of an answer."""
    headers = {}
    if outcome.retry_seconds is not None:
        headers["Retry-After"] = str(outcome.retry_seconds)
    if outcome.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if outcome.status == 204:
        return Response(status_code=204, headers=headers)
    content: Any = outcome.rows
    if content is None:
        content = {"error": outcome.problem, **({"where": outcome.place} if outcome.place else {})}
    elif single and len(content) == 1:
        content = content[0]
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text, outcome.status, headers, media_type="application/json")

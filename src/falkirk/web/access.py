"""Who may see the dashboard: on loopback everybody on this machine, elsewhere who has the token."""

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "falkirk-token"
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on ``host``.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets requests through to ``app`` that may be answered.

    Without a ``token`` only those that name this machine: a page of somebody else's whose name
    leads here is refused. With one, those that bring it, as a bearer or once in the address, after
    which a cookie has it. Nothing is changed by a request that comes from another page.
    """

    def __init__(self, app: ASGIApp, token: str | None = None) -> None:
        """Guards ``app``."""
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, refuses, or hands over."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = self._refused(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await (response or self.app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = urlsplit(f"//{headers.get('host', '')}")
        if self.token is None and not is_loopback(host.hostname or ""):
            return PlainTextResponse(
                f"this dashboard is for this machine only, not for {host.netloc!r}: open it as"
                " localhost, or start it with --host, which asks for a token",
                403,
            )
        origin = headers.get("origin")
        if scope["method"] != "GET" and origin and urlsplit(origin).netloc != host.netloc:
            return PlainTextResponse(f"a page of {origin} may not change anything here", 403)
        return None if self.token is None else self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        given = asked.pop("token", [""])[0]
        if self._fits(given) and scope["method"] == "GET":
            query = urlencode(asked, doseq=True)
            response = RedirectResponse(scope["path"] + (f"?{query}" if query else ""), 303)
            response.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return response
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if (kind.lower() == "bearer" and self._fits(bearer)) or self._fits(cookie(headers)):
            return None
        return PlainTextResponse(
            "this dashboard asks for its token: open the address that was printed when it started,"
            " or send it as a bearer token",
            401,
            {"www-authenticate": "Bearer"},
        )

    def _fits(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), (self.token or "").encode())


def cookie(headers: Mapping[str, str]) -> str:
    """The token that a browser remembers; it may be nonsense."""
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""

"""Asks an application without a server."""

import asyncio
from typing import Any

import httpx
from starlette.types import ASGIApp


class Client:
    """Remembers cookies, and follows nothing."""

    def __init__(self, app: ASGIApp, base: str = "http://localhost") -> None:
        self._inner = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base)
        self.cookies = self._inner.cookies

    def get(self, address: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._inner.get(address, **options))

    def post(self, address: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._inner.post(address, **options))

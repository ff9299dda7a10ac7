"""The pages that are open, and what each of them is still to be told."""

import json
import math
from asyncio import AbstractEventLoop, Queue
from dataclasses import dataclass, field
from typing import Any

BACKLOG_MAX = 64
"""A page that is behind so many messages is let go; it comes back and is told everything."""

Message = tuple[str, str] | None
"""A kind and a text; None means that the page has to go."""


@dataclass(eq=False, slots=True)
class Page:
    """One open page: its queue belongs to the event loop that serves it."""

    loop: AbstractEventLoop
    queue: Queue[Message] = field(default_factory=Queue)

    def tell(self, message: Message) -> None:
        """Puts a message into the queue, from any thread."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.queue.put_nowait, message)


class Pages:
    """All open pages; whoever uses it holds a lock."""

    def __init__(self) -> None:
        """None is."""
        self._open: list[Page] = []

    def add(self, loop: AbstractEventLoop) -> Page:
        """A new page."""
        page = Page(loop)
        self._open.append(page)
        return page

    def remove(self, page: Page) -> None:
        """The page was closed."""
        self._open = [each for each in self._open if each is not page]

    def tell(self, kind: str, value: Any) -> None:
        """Tells all of them; it is written down once."""
        if not self._open:
            return
        message = (kind, encoded(value))
        for page in list(self._open):
            behind = page.queue.qsize() > BACKLOG_MAX
            page.tell(None if behind else message)
            if behind:
                self._open.remove(page)

    def close(self) -> None:
        """All of them have to go."""
        for page in self._open:
            page.tell(None)
        self._open = []


def encoded(value: Any) -> str:
    """JSON on one line; a browser knows no infinity.

    >>> encoded({"p": [1, float("inf")]})
    '{"p":[1,null]}'
    """
    return json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"))


def finite(value: Any) -> Any:
    """The same without infinities, which become null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

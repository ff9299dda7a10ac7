"""Looking at a store again and again, for a dashboard beside a run or after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from falkirk.core.errors import FalkirkError
from falkirk.inspection.look import look_at
from falkirk.web.feed import Feed

SECONDS = 1.0


@contextmanager
def polled(feed: Feed, place: str, seconds: float = SECONDS) -> Iterator[None]:
    """Shows ``feed`` how the store stands, now and every so many seconds."""
    ended = Event()

    def look() -> None:
        try:
            feed.seen(look_at(place))
        except FalkirkError as error:
            feed.unwell(str(error))

    def go_on() -> None:
        while not ended.wait(seconds):
            look()

    look()
    thread = Thread(target=go_on, name="falkirk-polling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

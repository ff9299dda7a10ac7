"""Looking at a store again and again, for a dashboard beside a run or after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from falkirk.core.errors import FalkirkError
from falkirk.inspection.look import look as seen_now
from falkirk.inspection.look import opened
from falkirk.inspection.recoveries import remembered
from falkirk.web.feed import Feed

SECONDS = 1.0


@contextmanager
def polled(feed: Feed, place: str, seconds: float = SECONDS) -> Iterator[None]:
    """Shows ``feed`` how the store stands, now and every so many seconds."""
    ended = Event()

    def look() -> None:
        try:
            with opened(place) as store:
                feed.seen(seen_now(store), remembered(store, after=feed.settled))
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

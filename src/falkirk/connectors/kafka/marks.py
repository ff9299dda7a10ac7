"""The watermark of a sink, in Kafka itself: which time was written last, in the same transaction.

A topic of its own for each sink, with one partition, compacted. Consumer groups could hold the
same, but their offsets expire; and in a topic that sinks share, an open transaction of one would
hide the newest watermark of another.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import Any

from falkirk.connectors.kafka.client import cluster_of, fetching_of
from falkirk.connectors.kafka.offsets import Span
from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import PermanentError
from falkirk.core.times import Time

FORMAT = 1
TAIL = 16
"""How many offsets are looked at first; the newest mark is nearly always among them."""

CONFIG = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": "60000",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """The last time that ``store`` wrote for ``sink``."""

    sink: str
    store: str
    time: Time

    def encoded(self) -> bytes:
        """As it is written."""
        fields = {"format": FORMAT, "sink": self.sink, "store": self.store}
        return json.dumps({**fields, "time": list(self.time)}).encode()


def decoded(value: bytes, topic: str) -> Mark:
    """A mark as it was written."""
    try:
        found = json.loads(value)
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']}")
        return Mark(found["sink"], found["store"], tuple(found["time"]))
    except (ValueError, KeyError, TypeError) as error:
        raise PermanentError(
            f"the topic {topic!r} holds something else than watermarks of a sink ({error}): use a"
            " topic of its own as marks=, or the falkirk that wrote it"
        ) from None


def marks_topic(topic: str, sink: str) -> str:
    """The topic for the marks of one sink: a legal name, and another one for every sink.

    >>> marks_topic("orders", "totals out")
    '__falkirk-orders-totals-out-147ee5b7'
    """
    digest = hashlib.sha256(json.dumps([topic, sink]).encode()).hexdigest()[:8]
    legal = re.sub(r"[^a-zA-Z0-9._-]+", "-", f"{topic}-{sink}")[:200]
    return f"__falkirk-{legal}-{digest}"


class Marks:
    """The marks of one sink."""

    def __init__(self, settings: Settings, topic: str) -> None:
        """They are in ``topic``."""
        # What was aborted is no mark, whatever its user likes to read.
        native = {**settings.native, "isolation.level": "read_committed"}
        self.settings, self.topic = replace(settings, native=native), topic
        self._clients: tuple[Any, Any] | None = None

    def newest(self) -> Mark | None:
        """The mark of the last committed transaction; the topic is made if it is missing."""
        if self._clients is None:
            self._clients = (cluster_of(self.settings), fetching_of(self.settings))
        cluster, fetching = self._clients
        if not cluster.exists(self.topic):
            cluster.create(self.topic, 1, CONFIG)
            return None
        place = (self.topic, 0)
        begin, end = cluster.beginnings([place])[place], cluster.ends([place])[place]
        tail = TAIL
        while begin < end:
            start = max(begin, end - tail)
            found = fetching.table([Span(self.topic, 0, start, end)])
            if found.num_rows:
                return decoded(found.column("value")[-1].as_py() or b"", self.topic)
            end, tail = start, 16 * tail
        return None

    def close(self) -> None:
        """Ends the connections."""
        clients, self._clients = self._clients, None
        for client in clients or ():
            client.close()

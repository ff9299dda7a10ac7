"""A topic of Kafka as a sink: each time in one transaction, together with the sink's watermark."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from falkirk.connectors.kafka.client import check_installed, cluster_of
from falkirk.connectors.kafka.marks import Marks, marks_topic
from falkirk.connectors.kafka.records import Shape
from falkirk.connectors.kafka.settings import Settings, settings
from falkirk.core.times import Time


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """Writes a record for each row; consumers that read committed records see a time whole.

    ``key`` and ``value`` name columns: bytes are written as they are, text in UTF-8, all else as
    JSON. Without ``value`` a record holds all columns as a JSON object. ``headers`` names a column
    of headers as Spark's connector gives them. Every record has the header ``falkirk-time``.

    A time is written exactly once: its records and the sink's watermark are one transaction, and
    after a failure the watermark is looked up in Kafka. It is kept in a compacted topic, made when
    it is missing; ``marks`` is another name for it, and each sink needs its own. Whoever runs the
    same sink later shuts out whoever ran it before. Records that another store has written are
    not continued, unless ``adopt`` says so.

    ``transactional=False`` is at least once: records are visible at once, and once more after a
    failure. ``options`` and ``client`` are those of :class:`KafkaSource`.
    """

    servers: str
    topic: str
    _: KW_ONLY
    key: str | None = None
    value: str | None = None
    headers: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    transactional: bool = True
    marks: str | None = None
    adopt: bool = False
    _live: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def exactly_once(self) -> bool:
        """Whether each time is a transaction."""
        return self.transactional

    @property
    def places(self) -> tuple[str, ...]:
        """The topic of its watermarks, if it was given one; records may share theirs."""
        if not (self.transactional and self.marks):
            return ()
        return (f"the watermarks in {self.marks!r} at {self.servers}",)

    def attach(self, name: str, store: str) -> None:
        """Looks up in Kafka how far ``store`` has come; refuses what is another store's."""
        with closing(cluster_of(self._settings)) as cluster:
            cluster.partitions([self.topic])  # a topic that is missing is an error now, not later
        if self.transactional:
            self._producing(name).attach(store, self.adopt)

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes the rows of ``time``, piece by piece, and waits until the cluster has them."""
        self._producing(name).write(time, batch.arrow_batches())

    def close(self) -> None:
        """Ends the connections; the sink can be attached again."""
        for producing in self._live.values():
            producing.close()
        self._live.clear()

    @property
    def _settings(self) -> Settings:
        return settings(self.servers, self.options, self.client)

    def _producing(self, name: str) -> Any:
        if name not in self._live:
            check_installed()
            from falkirk.connectors.kafka.producing import Producing, Transacting

            known = self._settings
            shape = Shape(self.key, self.value, self.headers)
            if self.transactional:
                marks = Marks(known, self.marks or marks_topic(self.topic, name))
                self._live[name] = Transacting(known, self.topic, name, shape, marks)
            else:
                self._live[name] = Producing(known, self.topic, name, shape)
        return self._live[name]

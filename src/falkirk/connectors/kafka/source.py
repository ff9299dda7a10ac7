"""Topics of Kafka as a source: exact ranges of offsets, one an epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from falkirk.connectors.kafka.client import cluster_of, fetching_of
from falkirk.connectors.kafka.frames import python_frame, spark_frame
from falkirk.connectors.kafka.offsets import Offsets, Position, Span, count, flat, nested, shared
from falkirk.connectors.kafka.offsets import spans as spans_between
from falkirk.connectors.kafka.retention import Retention, log
from falkirk.connectors.kafka.settings import Settings, settings
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.dataflow.connecting import Limit

if TYPE_CHECKING:
    from falkirk.connectors.kafka.cluster import Cluster

Given = Mapping[str, Mapping[Any, int]]
"""Offsets as a user writes them."""

CHOICES = {"reader": ("spark", "python"), "on_loss": ("fail", "skip")}


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """The records of one or more topics.

    Rows have the columns of Spark's connector: ``key`` and ``value`` as bytes, ``topic``,
    ``partition``, ``offset``, ``timestamp``, ``timestampType``, and with ``headers`` those too.
    Only records of committed transactions are read, unless ``options`` say otherwise.

    ``options`` are Spark's, such as ``minPartitions``; those that begin with ``kafka.`` go to all
    clients. ``client`` has settings for the client of this process alone, by librdkafka's names.

    ``start`` is ``"earliest"``, ``"latest"`` or offsets, as ``{topic: {partition: offset}}``: where
    a new store begins. Partitions that appear later are read from their beginning. With ``until``,
    ``"latest"`` or offsets, the source ends there; else it waits for more. What is acknowledged is
    committed to the consumer group ``group``, for others to see: a run goes on where its store
    says.

    Large ranges are read by Spark's connector, whose jars Spark must have; with
    ``reader="python"`` by Python on executors, which needs none. Ranges of up to
    ``driver_rows_max`` records are read on the driver, without a job, with identical rows.
    ``record_bytes`` is about how large a record is: by it small ranges are known, and a limit of
    bytes becomes one of records, for the cluster counts nothing but offsets.

    Where the cluster has removed records that were not acknowledged, reading fails, or goes on
    without them by ``on_loss="skip"``. ``replayable=False`` logs what is read, so that nothing is
    asked for twice: for topics that are compacted or kept for a short time only.
    """

    servers: str
    topics: str | Sequence[str]
    _: KW_ONLY
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    group: str | None = None
    start: str | Given = "earliest"
    until: str | Given | None = None
    headers: bool = False
    reader: str = "spark"
    driver_rows_max: int = 0
    record_bytes: int = 1_000
    on_loss: str = "fail"
    replayable: bool = True
    _live: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    counts = ("rows", "bytes")

    def __post_init__(self) -> None:
        """Refuses what nobody knows."""
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ConnectorError(
                    f"{name} is one of {', '.join(known)}, not {getattr(self, name)!r}"
                )
        if isinstance(self.start, str) and self.start not in ("earliest", "latest"):
            raise ConnectorError(
                "start is 'earliest', 'latest' or offsets as {topic: {partition: offset}}, not"
                f" {self.start!r}"
            )
        if isinstance(self.until, str) and self.until != "latest":
            raise ConnectorError(
                "until is 'latest' or offsets as {topic: {partition: offset}}, not"
                f" {self.until!r}"
            )
        if self.record_bytes < 1:
            raise ConnectorError(f"a record has at least one byte, not {self.record_bytes}")
        if not self._names:
            raise ConnectorError("a Kafka source needs one or more topics")

    def initial(self) -> Position:
        """Where ``start`` says, decided once a run."""
        if "initial" not in self._live:
            places = self._cluster.partitions(self._names)
            if self.start == "latest":
                begun = self._cluster.ends(places, self._committed)
            else:
                begun = self._cluster.beginnings(places)
                if not isinstance(self.start, str):
                    begun |= flat(self.start)
            self._live["initial"] = nested(begun)
        found: Position = self._live["initial"]
        return found

    def latest(self, start: Position, limit: Limit) -> Position:
        """How far one epoch may go: a fair share of every partition."""
        begun = flat(start)
        self._retention.stands(begun)
        places = self._cluster.partitions(self._names)
        ends = self._cluster.ends(places, self._committed)
        self._refuse_lost_ends(begun, ends)
        self._retention.look(self._cluster)
        spans = spans_between(begun, self._bounded(ends))
        if not spans:
            return start
        if self.on_loss == "fail":
            self._kept(spans)
        most = self._records_max(limit)
        if most is not None:
            spans = shared(spans, most)
        return nested({**begun, **{(span.topic, span.partition): span.end for span in spans}})

    def read(self, session: Any, start: Position, end: Position) -> Any:
        """The records between two positions: a frame, or a table of few."""
        spans = spans_between(flat(start), flat(end))
        if self.on_loss == "skip":
            spans = self._kept(spans)
        if not spans or count(spans) <= self.driver_rows_max:
            return self._fetching.table(spans)
        if self.reader == "python":
            return python_frame(session, self._settings, spans, self.headers)
        return spark_frame(session, self._settings, spans, self.headers, self.on_loss == "skip")

    def size(self, start: Position, end: Position) -> int | None:
        """About how many bytes there are between two positions."""
        return count(spans_between(flat(start), flat(end))) * self.record_bytes

    def finished(self, position: Position) -> bool:
        """Whether all is read that was asked for."""
        if self.until is None:
            return False
        return not spans_between(flat(position), self._bounds())

    def commit(self, end: Position) -> None:
        """Tells the consumer group how far everything is safe (§4.3)."""
        done = flat(end)
        known = self._live.setdefault("acknowledged", {})
        further = {place: n for place, n in done.items() if n > known.get(place, -1)}
        self._retention.acknowledged(further)
        if self.group is not None and further:
            self._cluster.commit(further)
        known.update(further)

    def close(self) -> None:
        """Ends the connections; the source can be used again."""
        for name in ("cluster", "fetching"):
            if name in self._live:
                self._live[name].close()
        self._live.clear()

    # What lives as long as the process.

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.topics,) if isinstance(self.topics, str) else tuple(self.topics)

    @property
    def _committed(self) -> bool:
        return self.options.get("kafka.isolation.level", "read_committed") == "read_committed"

    @property
    def _settings(self) -> Settings:
        if "settings" not in self._live:
            self._live["settings"] = settings(self.servers, self.options, self.client)
        found: Settings = self._live["settings"]
        return found

    @property
    def _cluster(self) -> "Cluster":
        if "cluster" not in self._live:
            self._live.setdefault("cluster", cluster_of(self._settings, self.group))
        found: Cluster = self._live["cluster"]
        return found

    @property
    def _fetching(self) -> Any:
        if "fetching" not in self._live:
            self._live["fetching"] = fetching_of(self._settings, self.headers)
        return self._live["fetching"]

    @property
    def _retention(self) -> Retention:
        found: Retention = self._live.setdefault("retention", Retention())
        return found

    # What there is to read.

    def _records_max(self, limit: Limit) -> int | None:
        """How many records an epoch may have; bytes are counted by ``record_bytes`` each."""
        found = [] if limit.rows is None else [limit.rows]
        if limit.bytes is not None:
            found.append(max(1, limit.bytes // self.record_bytes))
        return min(found, default=None)

    def _bounds(self) -> Offsets:
        if "bounds" not in self._live:
            if isinstance(self.until, Mapping):
                self._live["bounds"] = flat(self.until)
            else:
                places = self._cluster.partitions(self._names)
                self._live["bounds"] = self._cluster.ends(places, self._committed)
        found: Offsets = self._live["bounds"]
        return found

    def _bounded(self, ends: Offsets) -> Offsets:
        if self.until is None:
            return ends
        bounds = self._bounds()
        return {place: min(end, bounds.get(place, 0)) for place, end in ends.items()}

    def _kept(self, spans: list[Span]) -> list[Span]:
        """The spans without what the cluster has removed; fails where that is not allowed."""
        begins = self._cluster.beginnings((span.topic, span.partition) for span in spans)
        kept = []
        for span in spans:
            begin = begins[span.topic, span.partition]
            if begin > span.start and self.on_loss == "fail":
                raise PermanentError(self._gone(span, begin))
            if begin > span.start:
                log.warning(
                    "Kafka at %s: %d records of %s-%d from offset %d on are gone and are passed"
                    " over, as on_loss='skip' says",
                    *(self.servers, min(begin, span.end) - span.start, span.topic),
                    *(span.partition, span.start),
                )
            if begin < span.end:
                kept.append(span._replace(start=max(begin, span.start)))
        return kept

    def _gone(self, span: Span, begin: int) -> str:
        return (
            f"Kafka at {self.servers}: retention has removed {begin - span.start} records of"
            f" {span.topic}-{span.partition} that were not acknowledged: offset {span.start} is"
            f" needed, and the first one there is {begin}. Choose: restore the topic and run again;"
            ' or read on without them, by on_loss="skip"; or begin with a new store. To keep them'
            " the next time, let the topic keep its records for longer, or log the input by"
            " replayable=False"
        )

    def _refuse_lost_ends(self, begun: Offsets, ends: Offsets) -> None:
        for (topic, partition), offset in begun.items():
            end = ends.get((topic, partition))
            if topic in self._names and (end is None or end < offset):
                raise PermanentError(
                    f"Kafka at {self.servers}: {topic}-{partition} was read up to offset {offset}"
                    f" and now {'is gone' if end is None else f'ends at {end}'}: the topic was made"
                    " anew, or the cluster has lost records. Restore it, or begin with a new store"
                )

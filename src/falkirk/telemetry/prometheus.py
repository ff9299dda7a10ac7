"""Metrics for Prometheus, kept in a registry of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    start_http_server,
)

from falkirk.core.errors import ConfigurationError
from falkirk.core.times import ProcessorId
from falkirk.runtime.listening import KINDS, Checkpointed, Listener, RollbackNotice, Taken, Tidied
from falkirk.runtime.progress import ProcessorProgress, Progress
from falkirk.telemetry.epochs import last_epoch

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
BYTES = tuple(4.0**power for power in range(5, 16))
"""1 KiB to 1 GiB."""


class PrometheusListener(Listener):
    """Listens to one run at a time, and can be asked by Prometheus at any time.

    Nothing is registered globally: two runs in one process have two of these.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """All counts are 0; ``registry`` takes the metrics, if others have one already."""
        self.registry = registry or CollectorRegistry()
        self.running = self._gauge("running", "1 while the flow runs, else 0.", "flow")
        self.lag = self._gauge(
            "processor_frontier_lag_seconds",
            "Age of the oldest epoch that is not complete at the processor; 0 if all are.",
            "processor",
        )
        self.completed = self._gauge(
            "processor_completed_epoch", "Last epoch that is complete; -1 if none.", "processor"
        )
        self.saved = self._gauge(
            "processor_saved_epoch", "Last epoch of the newest checkpoint.", "processor"
        )
        self.watermark = self._gauge(
            "processor_watermark_epoch", "Last epoch that is never undone.", "processor"
        )
        self.events = self._counter("processor_events", "Events processed.", "processor")
        self.rows = self._counter(
            "processor_rows", "Rows processed, where they were counted.", "processor"
        )
        self.queued = self._gauge("processor_queued_messages", "Messages waiting.", "processor")
        self.state_rows = self._gauge("processor_state_rows", "Rows of state.", "processor")
        self.state_bytes = self._gauge("processor_state_bytes", "Bytes of state.", "processor")
        self.incarnation = self._gauge(
            "processor_incarnation", "How often the processor was rolled back.", "processor"
        )
        self.unacknowledged = self._gauge(
            "unacknowledged_inputs", "Epochs that a source still has to keep.", "processor"
        )
        self.iterations = self._gauge(
            "loop_iterations", "Rounds that a loop took in its newest epoch.", "processor"
        )
        self.edge_queued = self._gauge("edge_queued_messages", "Messages on an edge.", "edge")
        self.edge_logged = self._gauge(
            "edge_logged_messages", "Messages that could be sent again.", "edge"
        )
        self.checkpoints = self._counter("checkpoints", "Durable checkpoints.", "processor")
        self.checkpoint_seconds = self._histogram(
            "checkpoint_duration_seconds", "From asking for a checkpoint until it is durable."
        )
        self.checkpoint_bytes = self._histogram(
            "checkpoint_bytes", "State and log that a checkpoint adds.", BYTES
        )
        self.rollbacks = self._counter("rollbacks", "Recoveries, by their cause.", "cause")
        self.recovery_seconds = self._histogram(
            "recovery_seconds", "From noticing a failure until all are where they were."
        )
        self.replayed = self._counter("replayed_rows", "Rows that were processed once more.")
        self.reclaimed = self._counter("gc_reclaimed_bytes", "Bytes of files that were deleted.")
        self.collecting_seconds = self._histogram(
            "gc_duration_seconds", "Transactions that collect old times."
        )
        self.output_rows = self._counter("output_rows", "Rows that the outside took.", "processor")
        self.output_seconds = self._histogram(
            "output_latency_seconds", "From reading an epoch until the outside has its output."
        )
        self.writes_waiting = self._gauge("store_writes_waiting", "Writes that are not durable.")
        self.commits = self._counter("store_commits", "Transactions of the store.")
        for kind in KINDS:
            self.rollbacks.labels(kind)
        self._flow = ""
        self._before: dict[tuple[str, ProcessorId | None], int] = {}

    def text(self) -> bytes:
        """All metrics, in the format that Prometheus reads."""
        return generate_latest(self.registry)

    @contextmanager
    def served(self, port: int, host: str = "127.0.0.1") -> Iterator[int]:
        """Serves ``/metrics``, and yields the port: one that is free if ``port`` is 0."""
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise ConfigurationError(
                f"metrics cannot be served on {host}:{port}: {error.strerror or error}; choose"
                " another port, or 0 for one that is free"
            ) from None
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    # What is heard.

    def started(self, flow: str) -> None:
        """A run has begun, which counts from 0."""
        self._flow, self._before = flow, {}
        self.running.labels(flow).set(1)

    def ended(self, error: Exception | None) -> None:
        """The run is over."""
        self.running.labels(self._flow).set(0)

    def progressed(self, progress: Progress) -> None:
        """Sets what is a level, and adds to counters what has come since the last time."""
        for p, each in progress.processors.items():
            self._processor(p, each)
        for name, edge in progress.edges.items():
            self.edge_queued.labels(name).set(edge.queued)
            self.edge_logged.labels(name).set(edge.logged)
        self.writes_waiting.set(progress.writes_waiting)
        self.commits.inc(self._grown("commits", None, progress.commits))
        self.replayed.inc(self._grown("replayed", None, progress.replayed_rows))
        self.reclaimed.inc(self._grown("reclaimed", None, progress.reclaimed_bytes))

    def checkpointed(self, checkpoint: Checkpointed) -> None:
        """A checkpoint is durable."""
        self.checkpoints.labels(checkpoint.processor).inc()
        self.checkpoint_seconds.observe(checkpoint.seconds)
        self.checkpoint_bytes.observe(checkpoint.bytes)

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """Some processors have gone back."""
        self.rollbacks.labels(rollback.kind).inc()

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All who went back are where they were before."""
        self.recovery_seconds.observe(seconds)

    def tidied(self, tidied: Tidied) -> None:
        """Old times are out of the store."""
        self.collecting_seconds.observe(tidied.seconds)

    def taken(self, taken: Taken) -> None:
        """The outside has taken an output."""
        self.output_rows.labels(taken.processor).inc(taken.rows)
        if taken.seconds is not None:
            self.output_seconds.observe(taken.seconds)

    def _processor(self, p: ProcessorId, each: ProcessorProgress) -> None:
        self.lag.labels(p).set(each.lag_seconds)
        self.queued.labels(p).set(each.queued)
        self.state_rows.labels(p).set(each.state_rows)
        self.state_bytes.labels(p).set(each.state_bytes)
        self.incarnation.labels(p).set(each.incarnation)
        self.events.labels(p).inc(self._grown("events", p, each.events))
        self.rows.labels(p).inc(self._grown("rows", p, each.rows))
        for gauge, frontier in (
            (self.completed, each.completed),
            (self.saved, each.saved),
            (self.watermark, each.watermark),
        ):
            gauge.labels(p).set(last_epoch(frontier))
        if each.role == "input":
            self.unacknowledged.labels(p).set(each.unacknowledged)
        if each.rounds:
            self.iterations.labels(p).set(each.rounds)

    def _grown(self, what: str, p: ProcessorId | None, count: int) -> int:
        before = self._before.get((what, p), 0)
        self._before[what, p] = count
        return max(0, count - before)

    # How they are made.

    def _gauge(self, name: str, words: str, *labels: str) -> Gauge:
        return Gauge(f"falkirk_{name}", words, labels, registry=self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"falkirk_{name}", words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: tuple[float, ...] = SECONDS) -> Histogram:
        return Histogram(f"falkirk_{name}", words, buckets=buckets, registry=self.registry)

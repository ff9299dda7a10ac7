"""Spans for OpenTelemetry: checkpoints, rollbacks, catching up, collection.

Only the API is used: without a tracer provider of the application nothing is recorded.
"""

import time

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from falkirk.runtime.listening import Checkpointed, Listener, RollbackNotice, Tidied

KEPT = 64
"""How many rollbacks wait for their processors to catch up."""


def traced() -> bool:
    """Whether the application has a tracer provider, so that spans go anywhere."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


class SpanListener(Listener):
    """Makes a span of whatever took time; its end is when it was heard of."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        """Spans of ``tracer``, or of the application's provider."""
        self.tracer = tracer or trace.get_tracer("falkirk")
        self._flow = ""
        self._rollbacks: dict[int, Span] = {}

    def started(self, flow: str) -> None:
        """A run has begun."""
        self._flow = flow
        self._rollbacks.clear()

    def checkpointed(self, checkpoint: Checkpointed) -> None:
        """From asking for a checkpoint until it is durable."""
        now = time.time()
        span = self._span("falkirk.checkpoint", now - checkpoint.seconds)
        span.set_attribute("falkirk.processor", checkpoint.processor)
        span.set_attribute("falkirk.frontier", repr(checkpoint.frontier))
        span.set_attribute("falkirk.rows", checkpoint.rows)
        span.set_attribute("falkirk.bytes", checkpoint.bytes)
        span.end(nanoseconds(now))

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """From noticing a failure until everybody was put back."""
        span = self._span("falkirk.rollback", rollback.at - rollback.seconds)
        moved = sorted(rollback.undone)
        span.set_attribute("falkirk.cause", rollback.kind)
        span.set_attribute("falkirk.failed", list(rollback.failed))
        span.set_attribute("falkirk.moved", moved)
        for p in moved:
            because = [str(each.because) for each in rollback.reasons.get(p, ())]
            frontier = repr(rollback.frontiers[p])
            span.add_event(
                "goes back",
                {"falkirk.processor": p, "falkirk.frontier": frontier, "falkirk.because": because},
                nanoseconds(rollback.at),
            )
        if rollback.kind not in ("restart", "repair"):  # nothing went wrong
            span.set_status(Status(StatusCode.ERROR, rollback.cause))
        span.end(nanoseconds(rollback.at))
        self._rollbacks[rollback.number] = span
        while len(self._rollbacks) > KEPT:
            del self._rollbacks[next(iter(self._rollbacks))]

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """From the rollback until all has been done again; a child of the rollback's span."""
        parent = self._rollbacks.pop(rollback.number, None)
        span = self._span("falkirk.catch_up", rollback.at, parent)
        span.set_attribute("falkirk.epochs", sum(rollback.undone.values()))
        span.end(nanoseconds(max(rollback.at, rollback.at - rollback.seconds + seconds)))

    def tidied(self, tidied: Tidied) -> None:
        """A transaction that collects old times."""
        now = time.time()
        span = self._span("falkirk.collect", now - tidied.seconds)
        span.set_attribute("falkirk.collections", tidied.collections)
        span.set_attribute("falkirk.bytes", tidied.bytes)
        span.end(nanoseconds(now))

    def _span(self, name: str, began: float, parent: Span | None = None) -> Span:
        context = None if parent is None else trace.set_span_in_context(parent)
        span = self.tracer.start_span(name, context, start_time=nanoseconds(began))
        span.set_attribute("falkirk.flow", self._flow)
        return span


def nanoseconds(seconds: float) -> int:
    """A time of the day as OpenTelemetry counts it."""
    return int(seconds * 1_000_000_000)

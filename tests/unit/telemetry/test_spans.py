"""Spans: what took time, from when to when, with a rollback as the parent of catching up."""

from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.web.scripted import NOON, rollback

from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import ProcessorId
from falkirk.runtime.listening import BY_HAND, Checkpointed, Tidied
from falkirk.telemetry import SpanListener
from falkirk.telemetry.spans import traced


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def listener(exporter: InMemorySpanExporter) -> SpanListener:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    found = SpanListener(provider.get_tracer("test"))
    found.started("storefront")
    return found


def seconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


def test_a_checkpoint(listener: SpanListener, exporter: InMemorySpanExporter) -> None:
    listener.checkpointed(Checkpointed(ProcessorId("totals"), TotalFrontier((4,)), 10, 99, 0.25))
    (span,) = exporter.get_finished_spans()
    assert span.name == "falkirk.checkpoint"
    assert seconds(span) == pytest.approx(0.25, abs=1e-3)
    assert dict(span.attributes or {}) == {
        "falkirk.flow": "storefront",
        "falkirk.processor": "totals",
        "falkirk.frontier": "↓(4)",
        "falkirk.rows": 10,
        "falkirk.bytes": 99,
    }


def test_a_rollback_and_catching_up(listener: SpanListener, exporter: InMemorySpanExporter) -> None:
    notice = rollback(1, NOON)
    listener.rolled_back(notice)
    listener.caught_up(notice, 2.5)
    back, up = exporter.get_finished_spans()
    assert (back.name, up.name) == ("falkirk.rollback", "falkirk.catch_up")
    assert seconds(back) == pytest.approx(0.042, abs=1e-3)
    assert seconds(up) == pytest.approx(2.5 - 0.042, abs=1e-3)
    assert up.parent is not None
    assert up.parent.span_id == back.get_span_context().span_id
    assert not back.status.is_ok
    reasons = {event.attributes["falkirk.processor"]: event.attributes for event in back.events}
    assert "but similar keeps only" in reasons["enrich"]["falkirk.because"][0]


def test_a_repair_is_no_error(listener: SpanListener, exporter: InMemorySpanExporter) -> None:
    listener.rolled_back(replace(rollback(1, NOON), cause=f"{BY_HAND}, me: why not"))
    (back,) = exporter.get_finished_spans()
    assert back.status.is_unset


def test_a_collection(listener: SpanListener, exporter: InMemorySpanExporter) -> None:
    listener.tidied(Tidied(3, 512, 0.5))
    (span,) = exporter.get_finished_spans()
    assert span.name == "falkirk.collect"
    assert seconds(span) == pytest.approx(0.5, abs=1e-3)


def test_nobody_is_forced_to_export_anything() -> None:
    assert not traced(), "no provider was set up, so a run needs no such listener"
    SpanListener().checkpointed(Checkpointed(ProcessorId("p"), TotalFrontier(), 0, 0, 0.0))

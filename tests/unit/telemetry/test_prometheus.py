"""Metrics: the names that people expect, and values that follow what a run tells."""

import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.web.scripted import NOON, progress, rollback

from falkirk.core.errors import ConfigurationError
from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import ProcessorId
from falkirk.runtime.listening import Checkpointed, Taken, Tidied
from falkirk.telemetry import PrometheusListener

ROOT = Path(__file__).parents[3]
EXPECTED = {
    "falkirk_processor_frontier_lag_seconds",
    "falkirk_checkpoint_duration_seconds_bucket",
    "falkirk_checkpoint_bytes_bucket",
    "falkirk_rollbacks_total",
    "falkirk_recovery_seconds_bucket",
    "falkirk_replayed_rows_total",
    "falkirk_gc_reclaimed_bytes_total",
    "falkirk_unacknowledged_inputs",
    "falkirk_loop_iterations",
}


def samples(listener: PrometheusListener) -> dict[tuple[str, str], float]:
    """Every sample by its name and the value of its only label."""
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(listener.text().decode())
        for sample in family.samples
    }


@pytest.fixture
def listener() -> PrometheusListener:
    found = PrometheusListener()
    found.started("storefront")
    return found


def test_the_names_that_people_expect_are_there(listener: PrometheusListener) -> None:
    listener.progressed(progress(3, 10))
    assert {name for name, _ in samples(listener)} >= EXPECTED


def test_levels_are_those_of_the_last_progress(listener: PrometheusListener) -> None:
    listener.progressed(progress(3, 10))
    listener.progressed(progress(4, 12))
    found = samples(listener)
    assert found["falkirk_processor_completed_epoch", "clicks"] == 12
    assert found["falkirk_processor_watermark_epoch", "clicks"] == 6
    assert found["falkirk_processor_frontier_lag_seconds", "report"] == pytest.approx(0.82)
    assert found["falkirk_unacknowledged_inputs", "clicks"] == 4
    assert ("falkirk_unacknowledged_inputs", "orders") not in found, "it is no input"
    assert found["falkirk_loop_iterations", "rank"] == 17
    assert ("falkirk_loop_iterations", "orders") not in found, "it is in no loop"
    assert found["falkirk_edge_logged_messages", "orders→totals"] == 24


def test_counters_grow_by_what_is_new_and_never_shrink(listener: PrometheusListener) -> None:
    for number in (3, 4):
        listener.progressed(progress(number, 10))
    assert samples(listener)["falkirk_processor_rows_total", "clicks"] == 4 * 1200
    listener.started("storefront")
    listener.progressed(progress(1, 1))
    assert samples(listener)["falkirk_processor_rows_total", "clicks"] == 5 * 1200


def test_rollbacks_are_counted_by_a_small_vocabulary(listener: PrometheusListener) -> None:
    name = "falkirk_rollbacks_total"
    assert {label for each, label in samples(listener) if each == name} == {
        "restart",
        "lost-executor",
        "error",
        "repair",
    }
    listener.rolled_back(rollback(1, NOON))
    listener.caught_up(rollback(1, NOON), 2.5)
    found = samples(listener)
    assert found[name, "lost-executor"] == 1
    assert found["falkirk_recovery_seconds_sum", ""] == 2.5


def test_checkpoints_collections_and_outputs(listener: PrometheusListener) -> None:
    p = ProcessorId("totals")
    listener.checkpointed(Checkpointed(p, TotalFrontier((4,)), 10, 4096, 0.25))
    listener.tidied(Tidied(3, 512, 0.5))
    listener.taken(Taken(p, (4,), 7, 1.5))
    listener.taken(Taken(p, (5,), 7, None))
    found = samples(listener)
    assert found["falkirk_checkpoints_total", "totals"] == 1
    assert found["falkirk_checkpoint_duration_seconds_sum", ""] == 0.25
    assert found["falkirk_checkpoint_bytes_sum", ""] == 4096
    assert found["falkirk_gc_duration_seconds_sum", ""] == 0.5
    assert found["falkirk_output_rows_total", "totals"] == 14
    assert found["falkirk_output_latency_seconds_count", ""] == 1


def test_every_metric_is_in_the_documentation_and_nothing_else_is() -> None:
    listener = PrometheusListener()
    page = (ROOT / "docs" / "how-to" / "monitor-with-prometheus.md").read_text("utf-8")
    documented = set(re.findall(r"`(falkirk_\w+)(?:\{\w+\})?`", page))
    there = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in listener.registry.collect()
    }
    assert documented == there


def test_two_runs_in_one_process_do_not_meet() -> None:
    one, other = PrometheusListener(), PrometheusListener()
    one.started("one")
    one.progressed(progress(3, 10))
    assert ("falkirk_processor_completed_epoch", "clicks") not in samples(other)


def test_they_are_served(listener: PrometheusListener) -> None:
    with listener.served(0) as port, urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        assert b'falkirk_running{flow="storefront"} 1.0' in answer.read()


def test_a_port_that_is_taken_is_told(listener: PrometheusListener) -> None:
    with (
        listener.served(0) as port,
        pytest.raises(ConfigurationError, match="choose another port"),
        PrometheusListener().served(port),
    ):
        pass

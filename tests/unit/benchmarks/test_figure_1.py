"""What the benchmark of Figure 1 makes of what it sees, and what its baseline is."""

import json
from pathlib import Path

import pytest
from benchmarks.figure_1 import contenders
from benchmarks.figure_1.contenders import CONTENDERS, FALKIRK, STOP_THE_WORLD, passed
from benchmarks.figure_1.measuring import Plan
from benchmarks.figure_1.outcome import Epochs, Moments, Redone, Run, Waits, peak, until_as_before
from benchmarks.figure_1.tables import compared, in_words, queries

from falkirk.core.machine.flow import Role
from falkirk.core.policy import Policy, Regime
from falkirk.demo.figure_1.flow import figure_1
from falkirk.demo.figure_1.records import Records
from falkirk.demo.figure_1.story import Story


def policies(name: str) -> dict[str, tuple[Role, Policy]]:
    """The role and the policy of every processor of a contender's flow."""
    server = CONTENDERS[name].server("user BIGINT", path="/query")
    flow = figure_1(Records(), server, "sqlite://", regimes=CONTENDERS[name].regimes(10.0))
    return {p: (node.role, node.policy) for p, node in flow.build().nodes.items()}


def test_the_baseline_is_the_same_flow_and_all_who_can_save_in_snapshots_do() -> None:
    figure, baseline = policies(FALKIRK), policies(STOP_THE_WORLD)
    assert list(figure) == list(baseline)
    others = {p for p, (_, policy) in baseline.items() if policy.when is None}
    assert {p for p in others if "versions" not in p and baseline[p][0] is not Role.INNER} == {
        "responses"
    }
    inner = [baseline[p][1] for p in others if baseline[p][0] is Role.INNER]
    assert {policy.regime for policy in inner} == {Regime.EPHEMERAL}
    assert set(CONTENDERS[FALKIRK].broken) <= set(figure)
    assert CONTENDERS[STOP_THE_WORLD].fails(baseline) == list(baseline)


@pytest.mark.parametrize(
    ("now", "seconds", "due"), [(1009.0, 8.0, False), (1010.1, 9.0, True), (1010.1, 0.15, False)]
)
def test_a_snapshot_is_due_once_at_each_multiple_of_its_interval(
    monkeypatch: pytest.MonkeyPatch, now: float, seconds: float, due: bool
) -> None:
    monkeypatch.setattr(contenders.time, "time", lambda: now)
    assert passed(10.0, 1, seconds) is due


def test_failures_are_spread_over_the_time_between_two_snapshots() -> None:
    plan = Plan(interval=10.0, repetitions=2)
    assert [plan.failing_at(r, 1004.0) for r in range(2)] == [1012.5, 1007.5]


def test_an_epoch_is_stable_when_it_is_first_acknowledged(tmp_path: Path) -> None:
    (tmp_path / "admitted").write_text("0 100.0\n1 102.0\n2 104.0\n1 106.0\n")
    told = [
        {"what": "stable", "epoch": 1, "at": 105.0},
        {"what": "rollback", "at": 105.5},
        {"what": "stable", "epoch": 1, "at": 107.0},
    ]
    (tmp_path / "events").write_text("".join(json.dumps(each) + "\n" for each in told))
    found = Epochs.read(tmp_path / "admitted", tmp_path / "events")
    assert found.waits() == [(100.0, 5.0), (102.0, 3.0)]


def every_half_second(start: float, seconds: list[float]) -> Waits:
    """Queries, one each half second."""
    return [(start + number / 2, each) for number, each in enumerate(seconds)]


def test_the_peak_is_of_those_whom_failures_met_or_who_came_later() -> None:
    moments = Moments(0.0, 10.0, 20.0, 30.0)
    assert peak([(5.0, 9.0), (18.0, 3.0), (25.0, 1.0), (31.0, 8.0)], moments) == 3.0


def test_queries_are_as_before_when_the_last_slow_one_is_answered() -> None:
    steady = every_half_second(0.0, [1.0, 9.0, 1.0, 1.0] * 5)
    as_before = every_half_second(20.0, [1.0, 1.0, 9.0, 1.0] * 5)
    assert until_as_before(steady, as_before, 20.0) == 0.0, "one slow query is not a slow window"
    little = every_half_second(20.0, [1.4] * 6 + [1.0] * 14)
    assert until_as_before(steady, little, 20.0) == 0.0, "that happens without failures, too"
    slow = every_half_second(20.0, [4.0] * 6 + [1.0] * 14)
    assert until_as_before(steady, slow, 20.0) == pytest.approx(2.0 + 4.0)


def test_what_was_done_again_is_what_the_process_told(tmp_path: Path) -> None:
    story = Story(tmp_path / "events.jsonl")
    story.broke("three failures at once", 100.0)
    told = [
        {"what": "progress", "at": 100.5, "uptime": 1.0, "replayed": 70, "processors": {}},
        {"what": "rollback", "number": 1, "frontiers": {"a": "⊤", "b": "↓3"}, "undone": {"b": 2}},
        {"what": "caught up", "number": 1, "at": 104.0},
    ]
    story.path.write_text("".join(json.dumps(each) + "\n" for each in told))
    story.read()
    assert Redone.of(story) == Redone(1, 2, 2, 70, 4.0)


def test_durations_have_a_unit_that_suits_them() -> None:
    assert [in_words(0.0421), in_words(3.14159)] == ["42 ms", "3.14 s"]


def a_run(*waits: float) -> Run:
    """One whose queries and records took so long."""
    return Run(waits, waits, max(waits), max(waits), 0.0, Redone(0, 1, 0, 0, None), [])


def test_ratios_and_latencies_have_the_ends_of_the_runs() -> None:
    found = {
        FALKIRK: [a_run(0.1, 0.2, 0.3), a_run(0.3, 0.4, 0.5)],
        STOP_THE_WORLD: [a_run(2.0, 2.0, 2.0), a_run(8.0, 8.0, 8.0)],
    }
    assert compared(found).rows[0][1] == "16.7× (10.0× to 20.0×)"
    assert queries(found).rows[0][2:4] == [
        "300 ms (200 ms to 400 ms)",
        "500 ms (300 ms to 500 ms)",
    ]

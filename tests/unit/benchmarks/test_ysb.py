"""What the Yahoo streaming benchmark makes of what it sees: its figures rest on this."""

import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from benchmarks.harness.processes import kill, kill_one
from benchmarks.inputs.events import ADS_EACH, POOLS
from benchmarks.ysb.contenders import (
    FALKIRK,
    FLINK,
    FLINK_AT_ONCE,
    RELAXED,
    STREAMING,
    contenders,
    of_two,
)
from benchmarks.ysb.figures import courses
from benchmarks.ysb.observer import Observer, Shown, rows_of
from benchmarks.ysb.outcome import (
    Live,
    Run,
    file_latencies,
    final_latencies,
    first_after,
    outcome,
    repeated,
)
from benchmarks.ysb.plan import FULL, QUICK, Plan
from benchmarks.ysb.showing import show
from benchmarks.ysb.stream import WINDOW_MS, expected, pieces
from benchmarks.ysb.tables import beside, latency_cells, literature, slowest, throughput

BEGIN = 1_700_000_000_000
STREAM = pieces(7, 3, BEGIN, 100, 2_000)
ONE = ("campaign-000", BEGIN)
OTHER = ("campaign-001", BEGIN)


def test_expected_counts_are_those_of_the_text() -> None:
    found: dict[tuple[str, int], int] = {}
    for line in "".join(piece.text() for piece in STREAM).splitlines():
        event = json.loads(line)
        if event["event_type"] == "view":
            campaign = f"campaign-{POOLS['ad_id'].index(event['ad_id']) // ADS_EACH:03}"
            key = campaign, event["event_time"] // WINDOW_MS * WINDOW_MS
            found[key] = found.get(key, 0) + 1
    assert found == expected(STREAM)


def test_final_latency_is_from_the_last_view_to_the_first_showing_of_the_final_count() -> None:
    live = Live(STREAM, {7: 1.0, 8: 1.1, 9: 1.2}, (BEGIN, BEGIN + WINDOW_MS), 99.0, 99.0)
    total = expected(STREAM)
    before = total[ONE] - STREAM[-1].views()[ONE]
    rows = [Shown(1.3, ONE, before), Shown(1.5, ONE, total[ONE]), Shown(1.9, ONE, total[ONE])]
    assert final_latencies(live, rows) == {ONE: pytest.approx(0.3)}


def test_a_file_is_counted_when_as_many_views_are_as_it_ends_with() -> None:
    live = Live(STREAM, {7: 1.0, 8: 1.1, 9: 1.2}, (BEGIN, BEGIN + WINDOW_MS), 99.0, 99.0)
    two, three = expected(STREAM[:2]), expected(STREAM)
    rows = [Shown(1.4, key, count) for key, count in two.items()]
    rows += [Shown(2.0, key, count) for key, count in three.items()]
    found = file_latencies(live, rows)
    assert [piece for piece, _ in found] == STREAM
    assert [seconds for _, seconds in found] == pytest.approx([0.4, 0.3, 0.8])


def test_files_of_the_failing_window_are_told_by_the_time_from_the_kill() -> None:
    stream = pieces(7, 4, BEGIN, WINDOW_MS // 2, 2_000)
    live = Live(stream, {7: 1.0, 8: 6.0, 9: 11.0, 10: 16.0}, (BEGIN, BEGIN + WINDOW_MS), 15.5, 15.6)
    observer = Observer(Path("nowhere"))
    for number, moment in ((1, 1.5), (2, 6.25), (3, 11.125), (4, 18.0)):
        observer.rows += [Shown(moment, *each) for each in expected(stream[:number]).items()]
    run = outcome(live, observer, expected(stream), 0.0, 0.0)
    assert run.files == pytest.approx((0.5, 0.25))
    assert run.around == (pytest.approx((-4.5, 0.125)), pytest.approx((0.5, 2.0)))
    assert slowest(run) == pytest.approx((2.0,))
    curve = courses(contenders(), {FALKIRK: [run]})
    assert curve == {f"{FALKIRK} (exactly once)": [(-4.5, 125.0), (0.5, 2000.0)]}


def test_what_is_shown_again_is_no_new_result() -> None:
    rows = [Shown(1.0, ONE, 5), Shown(3.0, ONE, 4), Shown(3.5, ONE, 5), Shown(4.0, OTHER, 1)]
    assert repeated(rows) == 2
    assert first_after(killed(2.0), rows) == pytest.approx(2.0)
    assert first_after(killed(4.0), rows) is None


def test_what_is_shown_while_it_dies_is_no_recovery() -> None:
    rows = [Shown(1.0, ONE, 5), Shown(2.2, ONE, 6), Shown(3.0, ONE, 7)]
    assert first_after(killed(2.0, gone=2.5), rows) == pytest.approx(1.0)


def killed(moment: float, gone: float | None = None) -> Live:
    """A stream in which that is all that counts."""
    return Live([], {}, (BEGIN, BEGIN), moment, moment if gone is None else gone)


def test_the_observer_reads_what_everybody_writes(tmp_path) -> None:
    show(tmp_path, "1.json", [(*ONE, 5)])
    show(tmp_path, "1.json", [(*ONE, 6)])
    (tmp_path / "part-0").write_text(f"-U[{OTHER[0]}, {BEGIN}, 1]\n+U[{OTHER[0]}, {BEGIN}, 2]\n")
    (tmp_path / ".hidden").write_text("half a line")
    observer = Observer(tmp_path)
    assert observer.look()
    assert not observer.look()
    assert observer.latest == {ONE: 5, OTHER: 2}
    (tmp_path / "part-1").write_text("nothing that anybody writes\n")
    with pytest.raises(ValueError, match="is no result"):
        rows_of(tmp_path / "part-1")


@pytest.mark.parametrize("plan", [FULL, QUICK])
def test_the_warm_up_ends_with_a_round_as_large_as_a_backlog(plan: Plan) -> None:
    *_, last = plan.warming()
    sizes = [[(piece.events, piece.span_ms) for piece in each] for each in (last, *plan.backlogs())]
    assert sizes == [sizes[0]] * len(sizes)
    assert sum(piece.events for piece in last) == plan.backlog


@pytest.mark.parametrize("plan", [FULL, QUICK])
def test_no_part_of_a_run_touches_the_counts_of_another(plan: Plan) -> None:
    warm = [piece for part in plan.warming() for piece in part]
    parts = [warm, plan.practising(), *plan.backlogs(), plan.stream()]
    numbers = [piece.number for part in parts for piece in part]
    assert numbers == sorted(set(numbers)), "files are read in the order of their names"
    windows = [{piece.begin_ms // WINDOW_MS for piece in part} for part in parts]
    assert sum(map(len, windows)) == len(set[int]().union(*windows))


def a_run(backlog: float, *final: float) -> Run:
    """One that had these latencies."""
    return Run(1.0, backlog, final, (), final, (), None, 0, 0, 1, 0)


FOUND = {
    FALKIRK: [a_run(1.0, 0.1, 0.2, 0.3), a_run(2.0, 0.3, 0.4, 0.5)],
    STREAMING: [a_run(2.0, 0.4, 0.4, 0.4), a_run(2.0, 0.5, 0.5, 0.5)],
}


def test_latencies_have_the_least_and_the_greatest_of_the_runs() -> None:
    cells = latency_cells(FOUND[FALKIRK], lambda run: run.final)
    assert cells == ["300 (200 to 400)", "500 (300 to 500)"]
    assert latency_cells(FOUND[FALKIRK], lambda run: run.failing) == ["–", "–"]


def test_ratios_have_the_least_and_the_greatest_of_the_turns() -> None:
    final = (lambda run: run.final), max
    assert beside(FOUND, FALKIRK, STREAMING, *final) == "1.00 (0.75 to 1.00)"
    assert beside(FOUND, FALKIRK, FLINK, *final) == "–"
    present = [each for each in contenders() if each.name in FOUND]
    rows = throughput(present, FOUND, Plan(backlog=100)).rows
    assert [row[2:4] for row in rows] == [
        ["75 (50 to 100)", "1.50 (1.00 to 2.00)"],
        ["50 (50 to 50)", "1.00 (1.00 to 1.00)"],
    ]


def test_throughput_and_failures_are_compared_on_as_many_workers() -> None:
    failing = [
        Run(1.0, 4.0, (0.1,), (seconds,), (), ((-1.0, 0.1), (1.0, 2 * seconds)), None, 0, 0, 1, 0)
        for seconds in (0.2, 0.4)
    ]
    found = FOUND | {of_two(FALKIRK): failing[:1], of_two(STREAMING): failing[1:]}
    present = [each for each in contenders() if each.name in found]
    ratios = {row[0]: row[3] for row in throughput(present, found, Plan(backlog=100)).rows}
    assert ratios[FALKIRK] == "1.50 (1.00 to 2.00)"
    assert ratios[of_two(FALKIRK)] == "1.00 (1.00 to 1.00)"
    *_, final, slow, all_final, all_slow = literature(found).rows
    half = "0.50 (0.50 to 0.50)"
    there = ["455 / 2225 / 2289", "0.20, 0.20"]
    assert final == ["exactly once, a worker fails", *there, "–", half]
    assert slow == ["and the slowest file then", "–", "–", "–", half]
    assert all_final == ["exactly once, all fails", *["–"] * 4]
    assert all_slow == ["and the slowest file then", *["–"] * 4]


def test_flink_stands_beside_falkirk_under_the_same_guarantee() -> None:
    found = {FALKIRK: [a_run(1.0, 0.1)], RELAXED: [a_run(1.0, 0.1)]}
    found |= {FLINK: [a_run(1.0, 0.2)], FLINK_AT_ONCE: [a_run(1.0, 0.4)]}
    guarantee = {each.name: each.guarantee for each in contenders()}
    assert guarantee[FALKIRK] == guarantee[FLINK] == "exactly once"
    assert guarantee[RELAXED] == guarantee[FLINK_AT_ONCE] == "at least once"
    rows = literature(found).rows
    ratios = ["0.50 (0.50 to 0.50)"] * 2 + ["0.25 (0.25 to 0.25)"] * 2
    assert [row[3] for row in rows[:4]] == ratios


CHILDREN = """
import subprocess, sys
children = [
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(600)  # {name}"])
    for name in ("manager", "worker", "worker")
]
print("ready", flush=True)
children[0].wait()
"""


def test_one_worker_is_killed_and_nothing_else() -> None:
    command = [sys.executable, "-c", CHILDREN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            manager, first, second = sorted(
                psutil.Process(process.pid).children(), key=psutil.Process.create_time
            )
            before = time.monotonic()
            assert before <= kill_one(process, "# worker") <= time.monotonic()
            until = before + 60.0
            while first.status() != psutil.STATUS_ZOMBIE:  # its parent does not ask for it
                assert time.monotonic() < until
            living = [each.status() != psutil.STATUS_ZOMBIE for each in (manager, second)]
            assert living == [True, True]
            assert process.poll() is None
        finally:
            kill(process)

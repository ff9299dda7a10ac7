"""What the Yahoo streaming benchmark makes of what it sees: its figures rest on this."""

import json

import pytest
from benchmarks.events import ADS_EACH, POOLS
from benchmarks.ysb.observer import Observer, Shown, rows_of
from benchmarks.ysb.outcome import Live, file_latencies, final_latencies, first_after, repeated
from benchmarks.ysb.showing import show
from benchmarks.ysb.stream import WINDOW_MS, expected, pieces

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
    live = Live(STREAM, {7: 1.0, 8: 1.1, 9: 1.2}, (BEGIN, BEGIN + WINDOW_MS), 99.0)
    total = expected(STREAM)
    before = total[ONE] - STREAM[-1].views()[ONE]
    rows = [Shown(1.3, ONE, before), Shown(1.5, ONE, total[ONE]), Shown(1.9, ONE, total[ONE])]
    assert final_latencies(live, rows) == {ONE: pytest.approx(0.3)}


def test_a_file_is_counted_when_as_many_views_are_as_it_ends_with() -> None:
    live = Live(STREAM, {7: 1.0, 8: 1.1, 9: 1.2}, (BEGIN, BEGIN + WINDOW_MS), 99.0)
    two, three = expected(STREAM[:2]), expected(STREAM)
    rows = [Shown(1.4, key, count) for key, count in two.items()]
    rows += [Shown(2.0, key, count) for key, count in three.items()]
    assert file_latencies(live, rows) == pytest.approx((0.4, 0.3, 0.8))


def test_what_is_shown_again_is_no_new_result() -> None:
    rows = [Shown(1.0, ONE, 5), Shown(3.0, ONE, 4), Shown(3.5, ONE, 5), Shown(4.0, OTHER, 1)]
    assert repeated(rows) == 2
    assert first_after(2.0, rows) == pytest.approx(2.0)
    assert first_after(4.0, rows) is None


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

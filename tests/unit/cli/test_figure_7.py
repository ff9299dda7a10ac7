"""``falkirk figure-7`` draws what the solver says, in every width, colour and alphabet."""

import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from falkirk.cli.axis import Axis, axes
from falkirk.cli.drawing import draw
from falkirk.cli.figure_7 import PANELS, figure_7
from falkirk.cli.main import cli
from falkirk.cli.outcome import Fate, Outcome

PRODUCT = """
{"processors": {
   "p": {"domain": {"kind": "structured", "depth": 2, "order": "product"}, "any_frontier": true,
         "complete": [[1, 3], [2, 0]]},
   "q": {"domain": {"kind": "structured", "depth": 2, "order": "product"}, "failed": true,
         "checkpoints": [{"frontier": [[1, 1]]}]}},
 "edges": {"e": {"src": "p", "dst": "q", "projection": "identity"}}}
"""


def run(*arguments: str, columns: int = 80, **environment: str) -> Result:
    result = CliRunner().invoke(figure_7, arguments, env={"COLUMNS": str(columns), **environment})
    assert result.exit_code == 0, result.output
    return result


def outcome(letter: str) -> Outcome:
    return Outcome.of(PANELS[letter].problem())


def drawn(found: Outcome) -> str:
    console = Console(width=80, file=io.StringIO(), record=True)
    draw(console, "title", "caption", found)
    return console.export_text()


def shown(frontiers: dict) -> dict[str, str]:
    return {p: repr(f) for p, f in frontiers.items()}


def test_panel_a_everyone_has_sent_what_its_receivers_consumed() -> None:
    """Figure 7 (a): everyone logs, so only what was sent and what was consumed matters."""
    found = outcome("a")
    assert found.failed == {"x"}
    assert shown(found.solution.frontiers) == {
        "p": "⊤",
        "q": "{e1: 5, e4: 1}",
        "x": "{e2: 6}",
        "y": "{e3: 4}",
        "r": "⊤",
    }
    assert found.logged("p") == ["e1", "e5"]
    for edge in found.graph.edges.values():
        sent = found.solution.choice.projected(edge, found.frontier(edge.source))
        assert found.solution.choice.processed(edge) <= sent


def test_panel_b_the_log_of_p_is_a_firewall() -> None:
    """Figure 7 (b): "Both x and y must roll back to their initial state, while p, q and r …"."""
    found = outcome("b")
    assert found.failed == {"y"}
    frontiers = {"q": "⊤", "p": "⊤", "r": "⊤", "x": "∅", "y": "∅"}
    assert shown(found.solution.frontiers) == frontiers
    assert [p for p in found.graph.domains if found.logged(p)] == ["p"]
    assert [resend.edge.name for resend in found.resends()] == ["e2"]


def test_panel_c_q_keeps_one_iteration_more_than_y_and_restarts_the_loop() -> None:
    """Figure 7 (c): q rolls back to ↓(1,4), y to ↓(1,3), and q re-sends what it logged at (1,4)."""
    found = outcome("c")
    assert found.failed == {"y"}
    frontiers = shown(found.solution.frontiers)
    assert (frontiers["q"], frontiers["y"]) == ("↓(1, 4)", "↓(1, 3)")
    assert [p for p in found.graph.domains if found.logged(p)] == ["q"]
    (resend,) = [r for r in found.resends() if r.edge.name == "e6"]
    assert (resend.edge.source, resend.edge.target) == ("q", "x")
    assert [c for c in range(9) if (1, c) in resend] == [4]


@pytest.mark.parametrize("letter", PANELS)
def test_every_cell_of_a_drawing_is_the_solvers_answer(letter: str) -> None:
    found = outcome(letter)
    for axis in axes(found):
        for row in axis.rows:
            kept = [fate is Fate.KEPT for fate in row.fates]
            assert sorted(kept, reverse=True) == kept, "a frontier is downward closed"
            if found.frontier(row.processor).is_empty:
                assert not any(kept)
            if found.frontier(row.processor).is_top:
                assert Fate.UNDONE not in row.fates


@pytest.mark.parametrize("letter", PANELS)
@pytest.mark.parametrize("columns", [80, 120])
def test_the_drawing_names_every_frontier_reason_and_failure(letter: str, columns: int) -> None:
    found = outcome(letter)
    said = " ".join(run("--panel", letter, columns=columns).output.split())
    assert "✗" in said
    for p, frontier in found.solution.frontiers.items():
        assert repr(frontier) in said
        assert found.policy(p) in said
    for reasons in found.solution.reasons.values():
        for reason in reasons:
            assert reason.because in said
            assert f"[{reason.constraint}, {reason.edge}]" in said


def test_a_different_problem_is_drawn_differently() -> None:
    """Nothing is hard-coded: with an older checkpoint at y, q and x lose more too."""
    changed = json.loads(PANELS["c"].problem())
    del changed["processors"]["y"]["checkpoints"][1]
    found = Outcome.of(json.dumps(changed))
    frontiers = shown(found.solution.frontiers)
    assert [frontiers[p] for p in "xyq"] == ["↓(1, 1)", "↓(1, 1)", "↓(1, 2)"]
    assert "time (1,2) on e6 from q to x" in drawn(found)


@pytest.mark.parametrize("columns", [8, 20, 33, 50, 79, 80, 81, 120, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    lines = run(columns=columns).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert not any(line.endswith(" ") for line in lines if columns >= 50)


def test_narrow_terminals_join_times_that_fare_alike() -> None:
    output = run("--panel", "c", columns=50).output
    assert re.search(r"^  time +–\(1,3\) \(1,4\) +\(1,5\) +later$", output, re.MULTILINE)
    joined = [axis.narrowed() for axis in axes(outcome("c"))]
    for axis in joined:
        columns = list(
            zip(*([*zip(r.fates, r.resent, strict=True)] for r in axis.rows), strict=True)
        )
        assert all(left != right for left, right in pairwise(columns))


def test_very_narrow_terminals_still_get_the_answer() -> None:
    output = run("--panel", "c", columns=24).output
    assert re.search(r"^  q +↓\(1, 4\)$", output, re.MULTILINE)


def test_pipes_and_no_color_get_no_escape_codes() -> None:
    assert "\x1b" not in run().output
    assert "\x1b" not in run(FORCE_COLOR="", NO_COLOR="1").output
    assert "\x1b[32m" in run(FORCE_COLOR="1", TERM="xterm-256color").output


def test_a_terminal_without_unicode_gets_plain_letters() -> None:
    result = CliRunner(charset="ascii").invoke(figure_7, ["--panel", "c"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert result.output.isascii()
    assert "q to v(1, 4)" in result.output


def test_json_has_the_problem_and_the_answer_of_solve() -> None:
    report = json.loads(run("--json").output)
    assert list(report) == ["a", "b", "c"]
    for letter, panel in report.items():
        problem = PANELS[letter].problem()
        solved = CliRunner().invoke(cli, ["solve", "-"], input=problem)
        assert panel["solution"] == json.loads(solved.stdout)
        assert panel["problem"] == json.loads(problem)
    assert report["c"]["sent_again"]["e6"] == {"up_to": [[1, 4]], "beyond": [[1, 3]]}
    assert report["a"]["sent_again"]["e1"] == {"up_to": {"e1": 9}, "beyond": {"e1": 5}}
    assert list(json.loads(run("--json", "--panel", "b").output)) == ["b"]


def test_a_problem_can_be_taken_to_solve() -> None:
    assert run("--panel", "a", "--problem").output == PANELS["a"].problem()
    assert CliRunner().invoke(figure_7, ["--problem"]).exit_code == 2


def test_times_that_do_not_fit_on_a_line_are_written_out() -> None:
    found = Outcome.of(PRODUCT)
    assert axes(found)[0].labels == ()
    assert "p to ↓{(1, 1)}" in drawn(found)


def test_an_axis_says_nothing_of_edges_that_end_elsewhere() -> None:
    found = outcome("a")
    (axis,) = axes(found)
    edge = replace(found.graph.edges["e1"], target="elsewhere")
    assert Axis("epoch", (), ()).resent_on(edge) == axis.resent_on(edge) == ""


def test_the_command_starts_without_spark() -> None:
    look = "import sys, falkirk.cli.main; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0

"""`falkirk solve`: the answers, and the command itself."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.cli.commands import run, started
from tests.unit.cli.documents import (
    EPOCH,
    EXAMPLE,
    KEYS,
    LEX,
    PRODUCT,
    RICH,
    SEQUENCE,
    alone,
    answer,
    edited,
)

from falkirk.cli.main import cli

# Answers.


def test_the_example() -> None:
    """r has lost epoch 1, of which q has discarded what left the loop; the rest follows."""
    found = answer(EXAMPLE)
    nothing = dict.fromkeys("pqr", "empty")
    assert list(found) == KEYS
    assert found["frontiers"] == found["notification_frontiers"] == nothing
    assert found["reasons"]["p"] == [
        {
            "constraint": "discarded-messages",
            "edge": "e1",
            "because": "p discarded messages up to ↓(0, 0), but q keeps only ∅",
        }
    ]
    assert {
        "constraint": "discarded-messages",
        "edge": "e3",
        "because": "q discarded messages up to ↓(1), but r keeps only ∅",
    } in found["reasons"]["q"]
    for reasons in found["reasons"].values():
        assert all(list(reason) == ["constraint", "edge", "because"] for reason in reasons)


def test_the_example_with_a_log_and_no_failure() -> None:
    problem = deepcopy(EXAMPLE)
    for checkpoint in problem["processors"]["q"]["checkpoints"][1:]:
        checkpoint["discarded"]["e3"] = "empty"
    # q can send r what it needs, so nobody but r has to go back.
    assert answer(problem)["frontiers"] == {"p": "top", "q": "top", "r": [[0]]}
    problem["processors"]["q"]["failed"] = True
    found = answer(problem)
    assert found["frontiers"] == {"p": [[1]], "q": [[1, 3]], "r": [[0]]}
    assert found["notification_frontiers"] == {"p": [[1]], "q": [[1, 3]], "r": [[0]]}
    assert list(found["reasons"]) == ["p"]


def test_the_command_prints_what_the_library_answers(tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    for problem, process in ((EXAMPLE, started), (RICH, run)):
        file.write_text(json.dumps(problem))
        from_file, from_input = process(str(file)), process("-", text=json.dumps(problem))
        assert from_file.returncode == from_input.returncode == 0
        assert from_file.stderr == from_input.stderr == b""
        assert from_file.stdout == from_input.stdout
        assert list(json.loads(from_file.stdout)) == KEYS
        assert json.loads(from_file.stdout) == answer(problem)


def test_names_and_frontiers_of_any_language_are_printed() -> None:
    problem = {"processors": {"größe→": {"domain": EPOCH, "any_frontier": True}}}
    done = run("-", text=json.dumps(problem, ensure_ascii=False))
    assert json.loads(done.stdout)["frontiers"] == {"größe→": "top"}


def test_it_starts_without_spark() -> None:
    program = (
        "import sys; from falkirk.cli.main import cli;"
        "cli(['solve', '-'], standalone_mode=False);"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(EXAMPLE),
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(done.stderr.split())
    assert "falkirk" in imported
    assert not imported & {"pyspark", "py4j", "pyarrow", "sqlalchemy"}


def test_a_problem_with_everything_in_it() -> None:
    found = answer(RICH)
    assert found["frontiers"] == found["notification_frontiers"]
    assert found["frontiers"] == {
        "a": [[4]],
        "s": {"n": 5},
        "t": [[0, "inf"], [1, 1]],
        "u": [[1, 1]],
    }
    blamed = {
        p: {(reason["constraint"], reason["edge"]) for reason in reasons}
        for p, reasons in found["reasons"].items()
    }
    assert blamed == {
        "t": {("delivered-messages", "m")},
        "u": {("delivered-messages", "o"), ("notification-projection", "o")},
    }


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({}, "empty"),
        ({"checkpoints": [{"frontier": [[1, 3]]}]}, [[1, 3]]),
        ({"checkpoints": [{"frontier": [[1, "inf"]]}, {"frontier": [[1, 3]]}]}, [[1, "inf"]]),
        ({"checkpoints": [{"frontier": "top"}, {"frontier": [[1, 3]]}]}, "top"),
        ({"checkpoints": [{"frontier": "top"}, {"frontier": [[1, 3]]}], "failed": True}, [[1, 3]]),
        ({"any_frontier": True}, "top"),
        ({"any_frontier": True, "failed": True}, "empty"),
        ({"any_frontier": True, "failed": True, "complete": [[2, 0]]}, [[2, 0]]),
        ({"any_frontier": True, "failed": True, "complete": []}, "empty"),
        ({"any_frontier": True, "failed": True, "complete": "top"}, "top"),
    ],
)
def test_a_processor_on_its_own_keeps_the_largest_frontier_that_it_has(body: dict, kept) -> None:
    found = answer(alone(LEX, **body))
    assert found == {"frontiers": {"p": kept}, "notification_frontiers": {"p": kept}, "reasons": {}}


def test_an_antichain_is_written_by_its_maximal_times() -> None:
    times = [[2, 0], [0, "inf"], [1, 3], [1, 2]]
    found = answer(alone(PRODUCT, any_frontier=True, failed=True, complete=times))
    assert found["frontiers"]["p"] == [[0, "inf"], [1, 3], [2, 0]]


def test_edges_may_be_left_out_and_checkpoints_come_in_any_order() -> None:
    problem = {"processors": {"p": {"domain": EPOCH, "checkpoints": [{"frontier": [[2]]}]}}}
    assert answer(problem)["frontiers"] == {"p": [[2]]}
    listed = [{"frontier": [[t]]} for t in (3, 0, 2)]
    assert answer(alone(EPOCH, checkpoints=listed))["frontiers"] == {"p": [[3]]}
    assert answer({"processors": {}}) == {
        "frontiers": {},
        "notification_frontiers": {},
        "reasons": {},
    }


def test_sequence_numbers_go_by_edge() -> None:
    problem = {
        "processors": {
            "a": {
                "domain": EPOCH,
                "checkpoints": [
                    {"frontier": [[0]], "projection": {"d": {"d": 4}}, "discarded": {"d": "empty"}}
                ],
            },
            "b": {"domain": SEQUENCE, "any_frontier": True, "failed": True, "complete": {"d": 7}},
        },
        "edges": {"d": {"src": "a", "dst": "b", "projection": "recorded"}},
    }
    found = answer(problem)
    assert found["frontiers"] == {"a": [[0]], "b": {"d": 4}}
    (reason,) = found["reasons"]["b"]
    assert (reason["constraint"], reason["edge"]) == ("delivered-messages", "d")
    assert "4" in reason["because"]


TWO_INPUTS: dict = {
    "processors": {
        "a": {
            "domain": EPOCH,
            "failed": True,
            "checkpoints": [
                {"frontier": [[0]], "projection": {"d": {"d": 4}}, "discarded": {"d": "empty"}}
            ],
        },
        "b": {
            "domain": EPOCH,
            "checkpoints": [
                {"frontier": "top", "projection": {"e": "top"}, "discarded": {"e": "empty"}}
            ],
        },
        "c": {"domain": SEQUENCE, "any_frontier": True, "complete": "top"},
    },
    "edges": {
        "d": {"src": "a", "dst": "c", "projection": "recorded"},
        "e": {"src": "b", "dst": "c", "projection": "recorded"},
    },
}


def test_a_stateless_processor_that_received_everything_has_reasons_too() -> None:
    for failed in (False, True):
        problem = json.loads(edited(TWO_INPUTS, "processors", "c", "failed", to=failed))
        found = answer(problem)
        assert found["frontiers"] == {"a": [[0]], "b": "top", "c": {"d": 4, "e": "inf"}}
        (reason,) = found["reasons"]["c"]
        assert (reason["constraint"], reason["edge"]) == ("delivered-messages", "d")
        assert reason["because"] == "c processed messages up to ↓(5), but a fixes only ↓(4)"


def test_a_frontier_that_was_printed_can_be_read() -> None:
    """With all of one edge and some of another, in every place where a frontier may be."""
    printed = answer(TWO_INPUTS)["frontiers"]["c"]
    assert printed == {"d": 4, "e": "inf"}
    stateless = json.loads(edited(TWO_INPUTS, "processors", "c", "complete", to=printed))
    assert answer(stateless)["frontiers"]["c"] == printed
    saved = {"frontier": printed, "notified": "empty", "processed": {"d": printed, "e": printed}}
    body = {"domain": SEQUENCE, "checkpoints": [saved, {"frontier": {"d": 2, "e": 7}}]}
    chain = json.loads(edited(TWO_INPUTS, "processors", "c", to=body))
    assert answer(chain)["frontiers"]["c"] == printed
    fixed = ("processors", "b", "checkpoints", 0, "projection", "e")
    assert answer(json.loads(edited(chain, *fixed, to={"e": "inf"})))["frontiers"]["c"] == printed


def test_all_of_every_edge_is_everything() -> None:
    everything = {"d": "inf", "e": "inf"}
    text = edited(TWO_INPUTS, "processors", "c", "complete", to=everything)
    assert answer(json.loads(text)) == answer(TWO_INPUTS)
    body = {"domain": SEQUENCE, "failed": True, "checkpoints": [{"frontier": everything}]}
    lost = json.loads(edited(TWO_INPUTS, "processors", "c", to=body))
    assert answer(lost)["frontiers"]["c"] == "empty"


def test_an_answer_has_a_line_for_each_frontier() -> None:
    lines = run("-", text=json.dumps(TWO_INPUTS)).stdout.decode().splitlines()
    assert '    "a": [[0]],' in lines
    assert '    "c": {"d": 4, "e": "inf"}' in lines


# The command and what it cannot use.


@pytest.mark.parametrize(
    "case",
    [
        ("{", "problem"),
        (json.dumps(alone(EPOCH, complete=[[1]])), "processors.p.complete"),
        (edited(EXAMPLE, "edges", "e2", "projection", to="identity"), "edges"),
    ],
    ids=["not JSON", "a field too many", "a cycle that stands still"],
)
def test_the_command_says_one_line_and_ends_with_status_2(case: tuple[str, str]) -> None:
    text, place = case
    done = run("-", text=text)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"falkirk: [FK200] {place}: ")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.json"
    binary.write_bytes(b'{"processors": "\xff"}')
    for file, said in (
        (tmp_path / "missing.json", "cannot be read"),
        (tmp_path, "cannot be read"),
        (binary, "not UTF-8"),
    ):
        done = run(str(file))
        assert done.returncode == 2
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith(f"falkirk: [FK200] {file}: ")
        assert said in line
    done = run("-", text=b"\xff")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == ["falkirk: [FK200] -: is not UTF-8 text"]


def test_a_usage_error_has_the_same_status() -> None:
    for arguments in ((), ("a", "b"), ("--unknown", "-")):
        result = CliRunner().invoke(cli, ["solve", *arguments], prog_name="falkirk")
        assert result.exit_code == 2
        assert "Usage: falkirk solve" in result.stderr
    done = started("--unknown", "-")
    assert done.returncode == 2
    assert b"Usage: falkirk solve" in done.stderr

"""`falkirk solve`: documents, names and streams made to break it get one line and status 2."""

import json
import subprocess

import pytest
from tests.unit.cli.commands import COMMAND, Done, run, started
from tests.unit.cli.documents import EPOCH, EXAMPLE, RICH, SEQUENCE, alone, complaint, edited

from falkirk.core.problem import read_problem
from falkirk.core.problem.document import one_line

CHECKPOINT = ("processors", "q", "checkpoints", 1)
NUMBERS = ("processors", "s", "checkpoints", 0, "frontier", "n")


def the_line(done: Done) -> str:
    """The one line that is said of what cannot be solved."""
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("falkirk: [FK200] ")
    return line


# Documents.


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"processors": {"p": [' + "[" * 900], ids=len)
def test_nesting_without_end(opening: str) -> None:
    text = opening * (100_000 // len(opening))
    assert complaint(text).place == "problem"
    assert "nested too deeply" in the_line(run("-", text=text))


@pytest.mark.parametrize("levels", [10, 300, 600, 800, 900, 930, 960, 980, 990])
def test_nesting_that_can_just_be_read_is_shown_shortly(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    said = complaint(f'{{"processors": {{"p": {deep}}}}}')
    assert len(str(said)) < 200


@pytest.mark.parametrize("digits", ["65", "1" + "0" * 9, "1" + "0" * 20, "1" * 5000], ids=len)
def test_a_depth_beyond_all_loops(digits: str) -> None:
    text = edited(EXAMPLE, "processors", "q", "domain", "depth", to=0)
    said = complaint(text.replace('"depth": 0', f'"depth": {digits}'))
    assert said.place == "processors.q.domain.depth"
    assert "from 1 to 64" in str(said)
    assert len(str(said)) < 200


def test_the_largest_depth() -> None:
    text = alone({"kind": "structured", "depth": 64}, any_frontier=True, complete=[[1] * 64])
    _, restorables = read_problem(json.dumps(text))
    assert restorables["p"].complete == (1,) * 64


@pytest.mark.parametrize(
    "digits", ["9223372036854775808", "1" * 20, "7" * 4300, "7" * 9999], ids=len
)
def test_a_number_beyond_64_bits(digits: str) -> None:
    for text, place in (
        (
            edited(EXAMPLE, *CHECKPOINT, "frontier", to=[[1, "?"]]),
            "processors.q.checkpoints[1].frontier[0][1]",
        ),
        (edited(RICH, *NUMBERS, to="?"), "processors.s.checkpoints[0].frontier.n"),
    ):
        said = complaint(text.replace('"?"', digits))
        assert said.place == place
        assert "below 2**63" in str(said)
        assert len(str(said)) < 200
        assert complaint(text.replace('"?"', f"-{digits}")).place == place


def test_the_largest_number() -> None:
    _, restorables = read_problem(
        json.dumps(alone(EPOCH, any_frontier=True, complete=[[2**63 - 1]]))
    )
    assert restorables["p"].complete == (2**63 - 1,)


def test_a_long_number_where_none_belongs() -> None:
    said = complaint('{"processors": ' + "7" * 5000 + "}")
    assert str(said) == "[FK200] processors: expected an object, not a number of 5000 digits"


# Names.


def test_half_a_surrogate_pair_is_no_name() -> None:
    processor = '{"processors": {"a\\ud800": {"domain": {"kind": "epoch"}}}}'
    edge = '{"processors": {}, "edges": {"\\udfff": {}}}'
    for text, place in ((processor, "processors.a\\ud800"), (edge, "edges.\\udfff")):
        assert complaint(text).place == place
        assert place in the_line(run("-", text=text))
    whole = '{"processors": {"\\ud83d\\ude00": {"domain": {"kind": "epoch"}}}}'
    assert list(read_problem(whole)[1]) == ["😀"]


BREAKS = ["\n", "\r", "\v", "\f", "\x1b[31m", "\x85", "\u2028", "\0"]


@pytest.mark.parametrize("ending", BREAKS, ids=ascii)
def test_whatever_ends_a_line_is_escaped(ending: str) -> None:
    name = f"a{ending}b"
    for text in (
        json.dumps({"processors": {name: {}}}),
        json.dumps({"processors": {}, name: 1}),
        json.dumps({"processors": {name: {"domain": {"kind": name}}}}),
        json.dumps({"processors": {name: {"domain": EPOCH, "any_frontier": True, "logs": ["x"]}}}),
        edited(EXAMPLE, "edges", "e1", "src", to=name),
        edited(EXAMPLE, *CHECKPOINT, "processed", to={name: "empty"}),
        json.dumps(
            {
                "processors": {name: {"domain": EPOCH}},
                "edges": {"e": {"src": name, "dst": name, "projection": "identity"}},
            }
        ),
    ):
        said = complaint(text)
        assert ending not in str(said)
        assert ending not in said.place
        line = the_line(run("-", text=text))
        assert line == f"falkirk: {said}"
        assert line.isprintable()
        assert one_line(name) in line


def test_file_names_that_break_lines_or_are_no_text() -> None:
    assert "no\\nsuch.json: cannot be read" in the_line(run("no\nsuch.json"))
    assert "no\\udcffsuch.json: cannot be read" in the_line(started(b"no\xffsuch.json"))


def test_names_with_line_ends_are_answered_too() -> None:
    done = run("-", text=json.dumps({"processors": {"a\nb": {"domain": SEQUENCE}}}))
    assert json.loads(done.stdout)["frontiers"] == {"a\nb": "empty"}


# Streams.

REFUSED = '{"processors": {"größe→": 1}}'


def test_a_closed_standard_input() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" solve - <&-', COMMAND], capture_output=True, timeout=60, check=False
    )
    assert the_line(done) == "falkirk: [FK200] -: cannot be read: standard input is closed"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_an_output_without_unicode_gets_the_same_answer(encoding: str) -> None:
    text = json.dumps(EXAMPLE).replace('"p"', '"größe→"')
    done = run("-", text=text, encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(run("-", text=text).stdout)
    assert done.stdout.isascii() == (encoding != "utf-8")
    refused = run("-", text=REFUSED, encoding=encoding)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1


def test_a_process_prints_the_same() -> None:
    for text in (json.dumps(EXAMPLE).replace('"p"', '"größe→"'), REFUSED):
        here = run("-", text=text, encoding="ascii")
        there = started("-", text=text, PYTHONIOENCODING="ascii")
        assert (there.returncode, there.stdout) == (here.returncode, here.stdout)
        assert there.stderr == here.stderr

"""A person's mistakes end with what, where and what next, and never with a stack trace."""

import sys
from pathlib import Path
from typing import Any

import click
import pytest
from tests.docs.markdown import ROOT
from tests.unit.cli.stories import Make, falkirk

from falkirk.cli.main import cli, main
from falkirk.core.errors import FalkirkError


def said(*arguments: str) -> str:
    """The one line of a mistake that falkirk itself finds."""
    result = falkirk(*arguments)
    assert isinstance(result.exception, FalkirkError), (result.exception, result.output)
    return str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("init", "file/below"), "file/below/app.py cannot be made: Not a directory; choose"),
        (("demo", "--folder", "file/below"), "cannot be used: Not a directory; choose another"),
        (("demo", "--folder", "full"), "full is not empty: name a new folder, or an empty one"),
        (("status", "--store", ""), "no store is given: write --store"),
        (("check", "ends.py"), "ends.py:2: SystemExit: it ends the process while it is read"),
        (("check", "nulls.py"), "nulls.py: SyntaxError: source code string cannot contain"),
        (("shadow", "list", "--store", "nowhere"), "there is no store at nowhere"),
    ],
)
def test_without_a_store(arguments: tuple[str, ...], words: str) -> None:
    Path("file").write_text("")
    Path("full").mkdir()
    Path("full", "store").mkdir()
    Path("ends.py").write_text("import sys\nsys.exit(3)\n")
    Path("nulls.py").write_bytes(b"x = 1\0\n")
    assert words in said(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rollback", "--plan", "bytes"), "bytes is no plan of `falkirk rollback --save`"),
        (("rollback", "--to", "totals@4", "--save", "no/plan"), "cannot be saved as no/plan: No"),
        (("rollback", "--to", "totals@may"), "'may' is not EPOCH: write for instance 4, or start"),
        (("state", "totals@999"), "has saved no more than epoch 4, and epoch 999 is beyond that"),
    ],
)
def test_on_a_store(story: Make, arguments: tuple[str, ...], words: str) -> None:
    story().epochs(8).stop()
    Path("bytes").write_bytes(b"\xff\xfe")
    assert words in said(*arguments, "--store", "state")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ui", "--port", "99999"),
        ("ui", "--seconds", "-1"),
        ("run", "--ui-port", "-1"),
        ("run", "--metrics-port", "70000"),
        ("state", "totals", "--limit", "-1"),
        ("recoveries", "--limit", "0"),
        ("shadow", "compare", "--store", "s", "--sample", "-1"),
        ("demo", "--seconds", "-1"),
        ("what-if", "--fail", " , "),
    ],
)
def test_numbers_that_cannot_be(arguments: tuple[str, ...]) -> None:
    result = falkirk(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ('epochs_ahead = "4"', "must be a whole number"),
        ('progress_seconds = "4"', "must be a number"),
        ("monitor = 4", "must be a text"),
    ],
)
def test_options_of_another_type(option: str, words: str) -> None:
    Path("falkirk.toml").write_text(f'app = "app.py"\n[options]\n{option}\n')
    assert words in said("check")


def test_a_message_of_several_lines_is_told_in_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def several(**_: Any) -> None:
        raise FalkirkError("it differs:\n  - a is new\n  - b is gone\nrun the other one")

    monkeypatch.setattr(cli.commands["pins"], "callback", several)
    monkeypatch.setattr(sys, "argv", ["falkirk", "pins"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = "falkirk: [FK000] it differs: a is new; b is gone; run the other one\n"
    assert capsys.readouterr().err == told


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """All commands by what a person types."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{before}{name} ")
        else:
            found[before + name] = command
    return found


@pytest.mark.parametrize("name", commands(cli))
def test_every_command_has_json_and_the_reference_says_what_is_in_it(name: str) -> None:
    flags = [flag for each in commands(cli)[name].params for flag in each.opts]
    assert "--json" in flags
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    part = page.partition("## JSON")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| ")]
    assert any(f"`{name}`" in row for row in rows)

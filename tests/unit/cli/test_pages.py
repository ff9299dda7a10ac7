"""What the documentation shows of the commands is what they print."""

import re
import sqlite3
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker

import click
import pytest
from tests.docs.markdown import FENCE, ROOT
from tests.unit.cli.stories import Make, falkirk

from falkirk.cli.main import cli

PAGE = (ROOT / "docs" / "how-to" / "inspect-a-flow.md").read_text("utf-8")
SHOWN = [body for _, body in FENCE.findall(PAGE) if body.startswith("$ falkirk")]


def moved_to_app() -> None:
    """Has the store say that the flow was written in app.py, as a user's is."""
    with sqlite3.connect("state/metadata.sqlite") as connection:
        (about,) = connection.execute("SELECT value FROM facts WHERE name = 'about'").fetchone()
        about = re.sub(r'"location":"[^"]*"', '"location":"app.py:22"', about)
        connection.execute("UPDATE facts SET value = ? WHERE name = 'about'", [about])
    connection.close()


@pytest.mark.parametrize("body", SHOWN, ids=lambda body: body.partition("\n")[0])
def test_a_page_shows_what_is_printed(story: Make, body: str) -> None:
    story().epochs(8).stop()
    moved_to_app()
    command, _, expected = body.partition("\n")
    printed = falkirk(*command.removeprefix("$ falkirk ").split()).output
    same = OutputChecker().check_output(expected, printed, ELLIPSIS | NORMALIZE_WHITESPACE)
    assert same, printed


def test_three_commands_are_shown() -> None:
    assert len(SHOWN) == 3


def test_every_command_and_every_flag_has_help_and_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    for name, command in cli.commands.items():
        assert f"`{name}" in page, f"{name} is not in the reference"
        assert command.help, f"{name} says nothing of itself"
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name} has no help"


def test_every_finding_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    source = (ROOT / "src" / "falkirk" / "inspection" / "checking.py").read_text("utf-8")
    codes = set(re.findall(r'"(C\d{3})"', source))
    assert len(codes) >= 10
    for code in codes:
        assert f"`{code}`" in page


@pytest.mark.parametrize("name", ["status", "explain", "what-if", "gc", "audit", "rollback"])
def test_every_field_of_the_json_is_in_the_reference(story: Make, name: str) -> None:
    import json

    story(embedded=False).epochs(8).stop()
    arguments = {
        "what-if": ["--fail", "totals"],
        "rollback": ["--to", "totals@3", "--dry-run"],
        "gc": ["--explain"],
    }.get(name, [])
    found = json.loads(falkirk(name, *arguments, "--store", "state", "--json").output)
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{name}` \| (`(?:flow|format)`.*) \|$", page, re.MULTILINE)
    described = set(re.findall(r"`([\w-]+)`", row)) | set(
        re.findall(r"`([\w-]+)`", " ".join(re.findall(r"^\| `what-if` \| `flow`.*$", page, re.M)))
        if name == "rollback"
        else []
    )
    fields = set(found)
    for value in found.values():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            fields |= set(value[0])
    assert fields <= described | {"words", "frontier"}, fields - described

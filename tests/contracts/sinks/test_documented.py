"""The connector that the documentation writes keeps the contract as it says."""

from doctest import DocTestParser
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "write-a-connector.md"


def written() -> dict[str, Any]:
    """All that the page's snippets define."""
    found: dict[str, Any] = {}
    for example in DocTestParser().get_examples(PAGE.read_text("utf-8")):
        exec(example.source, found)
    return found


NAMES = written()
TestLines = NAMES["TestLines"]
TestScript = NAMES["TestScript"]

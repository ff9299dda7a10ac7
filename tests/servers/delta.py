"""What is in a Delta table, by its log and its files: without Spark, and without Delta's kernel."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq


def commits(table: Path) -> list[list[dict[str, Any]]]:
    """The actions of all commits of a table."""
    found = sorted((table / "_delta_log").glob("[0-9]*.json"))
    return [[json.loads(line) for line in each.read_text().splitlines()] for each in found]


def rows(table: Path) -> list[dict[str, Any]]:
    """The rows of all files that were added; a table that is only added to removes none."""
    actions = [action for commit in commits(table) for action in commit]
    assert not any("remove" in action for action in actions)
    files = [table / unquote(action["add"]["path"]) for action in actions if "add" in action]
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]

"""The Grafana dashboard asks for metrics that there are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.web.scripted import progress

from falkirk.telemetry import PrometheusListener

FILE = Path(__file__).parents[3] / "docs" / "operations" / "grafana.json"


@pytest.fixture(scope="module")
def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def expressions(value: Any) -> list[str]:
    """Every PromQL expression, however deep."""
    if isinstance(value, dict):
        mine = [value[key] for key in ("expr", "query") if isinstance(value.get(key), str)]
        return mine + [each for inner in value.values() for each in expressions(inner)]
    if isinstance(value, list):
        return [each for inner in value for each in expressions(inner)]
    return []


def test_every_metric_that_it_names_exists(board: dict[str, Any]) -> None:
    listener = PrometheusListener()
    listener.started("storefront")
    listener.progressed(progress(3, 10))
    there = {
        sample.name
        for family in text_string_to_metric_families(listener.text().decode())
        for sample in family.samples
    }
    labelled = {"falkirk_checkpoints_total", "falkirk_output_rows_total"}
    asked = {name for text in expressions(board) for name in re.findall(r"falkirk_\w+", text)}
    assert len(asked) > 12
    assert asked <= there | labelled, asked - there - labelled


def test_panels_do_not_overlap_and_have_titles(board: dict[str, Any]) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert panel["title"]
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells

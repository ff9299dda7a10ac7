"""What is served to browsers is whole, small, and comes from nowhere else."""

import re
from pathlib import Path

import pytest

from falkirk.core.policy import Regime
from falkirk.web.application import STATIC

SCRIPTS = sorted(STATIC.glob("*.js"))
FILES = sorted(path for path in STATIC.iterdir() if path.is_file())
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    text = path.read_text("utf-8").replace(NAMESPACE, "")
    assert not re.search(r"https?://|//[a-z]+\.[a-z]|@import|eval\(|innerHTML", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_import_leads_to_something_that_is_exported(path: Path) -> None:
    pattern = r'import \{([^}]*)\} from "\./([\w.]+)"'
    for names, file in re.findall(pattern, path.read_text("utf-8")):
        exported = (STATIC / file).read_text("utf-8")
        for name in filter(None, (each.strip() for each in names.split(","))):
            assert re.search(rf"export (const|class) {name}\b", exported), f"{file}: {name}"


def test_the_page_names_files_that_are_there() -> None:
    page = (STATIC / "index.html").read_text("utf-8")
    named = re.findall(r'"/static/([\w.]+)"', page)
    assert len(named) >= 5
    assert all((STATIC / name).is_file() for name in named)


def test_every_regime_has_a_colour_and_a_place_in_the_legend() -> None:
    colours, legend = (STATIC / "graph.css").read_text(), (STATIC / "flow.js").read_text()
    for regime in Regime:
        assert f".is-{regime.value} {{" in colours
        assert f'"{regime.value}"' in legend

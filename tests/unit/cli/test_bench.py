"""``falkirk bench``: finds the benchmarks of a checkout, or says where they are."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from benchmarks.__main__ import BENCHMARKS
from benchmarks.harness.plots import Bars, Lines
from benchmarks.harness.report import Report, Table, write
from tests.unit.cli.stories import falkirk

from falkirk.core.errors import ConfigurationError


def test_the_list_names_all_and_each_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "falkirk", "bench", "--list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    for each in BENCHMARKS:
        assert each.name in done.stdout
        assert callable(import_module(f"benchmarks.{each.module}").run)


def test_a_benchmark_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "falkirk", "bench", "nonsense"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no nonsense: there are rollback" in done.stderr


def test_an_installed_package_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "site-packages" / "falkirk" / "cli" / "bench.py"
    monkeypatch.setattr("falkirk.cli.bench.__file__", str(installed))
    result = falkirk("bench", "matrix")
    assert isinstance(result.exception, ConfigurationError)
    assert "folder benchmarks of falkirk's source" in str(result.exception)


def test_a_report_has_its_figures_beside_it(tmp_path: Path) -> None:
    report = Report("Growth", {"work": "little"}, [Table("Rows", ["rows", "ms"], [["1", "2"]])])
    report.figures = [
        Lines("rows", "Time an epoch", "rows", "ms", {"lazy()": [(1, 2), (10, 3)]}, log="x"),
        Bars("cost", "Cost", "×", {"few": {"lazy()": (1.1, 1.0, 1.2), "eager()": (2, 2, 2)}}),
    ]
    page = write(report, tmp_path / "growth.md").read_text("utf-8")
    assert "| 1 | 2 |" in page
    assert "![Time an epoch](growth-rows.svg)" in page
    assert "![Cost](growth-cost.svg)" in page
    drawn = (tmp_path / "growth-rows.svg").read_text("utf-8")
    assert "Time an epoch" in drawn, "text stays text"
    assert write(report, tmp_path / "growth.md").with_name("growth-rows.svg").read_text() == drawn

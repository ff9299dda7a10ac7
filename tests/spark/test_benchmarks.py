"""Every benchmark that needs Spark runs from beginning to end, on sizes that say nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import BENCHMARKS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name != "rollback"])
def test_a_quick_look(name: str) -> None:
    command = [sys.executable, "-m", "benchmarks", name, "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Targets" in done.stdout
    assert "written:" not in done.stdout

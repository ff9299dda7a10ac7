"""Runs a program with a Spark session of its own, and leaves none of its processes behind."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.faults.killing import kill_group

ROOT = Path(__file__).parents[2]


def output_of_python(
    *arguments: str, folder: Path, environment: Mapping[str, str], seconds_max: float
) -> list[str]:
    """The lines that a Python program prints; its log goes into ``folder``."""
    path = folder / "child.log"
    with path.open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(timeout=seconds_max)
        finally:
            kill_group(child)
    assert child.returncode == 0, path.read_text()[-3_000:]
    return output.decode().splitlines()

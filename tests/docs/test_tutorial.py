"""The tutorial, from its first command to its last: the kill in it is a real one."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from tests.docs.markdown import FENCE, ROOT

BLOCKS = FENCE.findall((ROOT / "docs" / "tutorial.md").read_text("utf-8"))


def test_the_flow_is_the_one_of_a_new_project() -> None:
    app = files("falkirk.cli").joinpath("project", "app.py.template").read_text("utf-8")
    shown = [body for language, body in BLOCKS if language == "python"]
    assert shown
    assert all(body in app for body in shown)


@pytest.mark.spark
def test_every_step_does_what_the_page_says(tmp_path: Path) -> None:
    script = "set -eu\n" + "".join(body for language, body in BLOCKS if language == "sh")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "is gone without a word" in done.stdout, "the status after the kill"
    assert "went back to" in done.stdout, "the recovery"
    assert done.stdout.endswith("the same rows\n")

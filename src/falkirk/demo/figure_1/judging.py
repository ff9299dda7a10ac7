"""The process that computes the verdict: Spark starts there while the flow comes to its end."""

import json
import subprocess
import sys
from pathlib import Path

from falkirk.core.errors import ExecutionError

END_SECONDS = 180.0


class Judge:
    """Another process, which knows the records and what clients were told, and nothing else."""

    def __init__(self) -> None:
        """Starts it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "falkirk.demo.figure_1.verdict"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wrong(self, path: Path) -> list[str]:
        """What is wrong with what the file says."""
        out, err = self._process.communicate(f"{path}\n", timeout=END_SECONDS)
        if self._process.returncode:
            raise ExecutionError(f"the verdict could not be computed: {err[-2000:]}")
        found: list[str] = json.loads(out.strip().splitlines()[-1])
        return found

    def close(self) -> None:
        """Ends the process, if nobody has asked it anything."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()

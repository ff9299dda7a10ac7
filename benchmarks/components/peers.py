"""Runs Pathway in an environment of its own."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.components.following import Run
from benchmarks.components.graph import numbered
from benchmarks.ysb.environments import Missing, python_of, versions

ROOT = Path(__file__).parents[2]
PATHWAY = "Pathway"
MODULE = "benchmarks.components.pathway_peer"
PATIENCE_SECONDS = 900
LOG_LINES = 15


@dataclass
class Pathway:
    """Pathway, as far as it can be run here; ``trouble`` has, by graph, the end of a log."""

    python: Path | None = None
    version: str = "not installed"
    trouble: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> "Pathway":
        """Makes its environment."""
        try:
            return cls(python_of("pathway"), versions("pathway"))
        except (Missing, OSError, subprocess.SubprocessError) as error:
            return cls(trouble={"its environment": str(error).splitlines()[-LOG_LINES:]})

    def followed(self, folder: Path) -> Run | None:
        """Follows the changes in ``folder``, unless it has failed to."""
        if self.python is None or folder.name in self.trouble:
            return None
        result, log = folder.with_suffix(".json"), folder.with_suffix(".log")
        command = [self.python, "-m", MODULE, str(numbered(folder)), str(result)]
        with log.open("wb") as output:
            try:
                subprocess.run(
                    command,
                    cwd=ROOT,
                    env={**os.environ, "PATHWAY_THREADS": str(os.cpu_count() or 1)},
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=PATIENCE_SECONDS,
                    check=True,
                )
            except (OSError, subprocess.SubprocessError) as error:
                end = log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]
                self.trouble[folder.name] = [str(error), *end]
                return None
        found = json.loads(result.read_text())
        first, *rest = found["seconds"]
        return Run(first, sum(rest), dict(map(tuple, found["components"])))

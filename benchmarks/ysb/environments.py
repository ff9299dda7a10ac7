"""An environment for each peer, made once and kept in the user's cache folder."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from falkirk.runtime.java import cache_folder

PEERS = Path(__file__).parent / "peers"
PATIENCE_SECONDS = 1200


class Missing(Exception):
    """A peer that cannot be installed here; its text is the end of the log."""


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, which is made if it is not there."""
    wanted = (PEERS / f"{peer}.txt").read_text("utf-8")
    digest = hashlib.sha256((sys.version + wanted).encode()).hexdigest()[:12]
    folder = cache_folder(os.environ) / "benchmarks" / f"{peer}-{digest}"
    if not (folder / "made").exists():
        make(folder, PEERS / f"{peer}.txt")
    return folder / "bin" / "python"


def versions(peer: str) -> str:
    """What a peer's environment has of what was asked for."""
    names = [line.partition("==")[0] for line in (PEERS / f"{peer}.txt").read_text().splitlines()]
    code = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"
    asked = [python_of(peer), "-c", code, *names]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    return ", ".join(f"{name} {version}" for name, version in zip(names, found, strict=True))


def make(folder: Path, wanted: Path) -> None:
    """Makes an environment from a list of packages, or says why it cannot be."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    steps = [
        [sys.executable, "-m", "venv", str(folder)],
        [folder / "bin" / "python", "-m", "pip", "install", "--no-input", "-r", str(wanted)],
    ]
    with log.open("wb") as output:
        for step in steps:
            try:
                subprocess.run(
                    step,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=PATIENCE_SECONDS,
                    check=True,
                )
            except (OSError, subprocess.SubprocessError) as error:
                end = log.read_text("utf-8", "replace")[-2000:]
                raise Missing(f"{wanted.name}: {error}\n{end}") from error
    (folder / "made").touch()

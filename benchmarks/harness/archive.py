"""The class archive, there before anything is measured: falkirk makes it beside its first run."""

import os
import subprocess
import sys
import time

from falkirk.runtime.java import find_java_home
from falkirk.runtime.startup import archive_path, obstacle

PATIENCE_SECONDS, PAUSE_SECONDS = 300.0, 1.0


def make_archive() -> None:
    """Makes it if it is not there; if somebody is at it, waits for that."""
    if reason := obstacle():
        raise RuntimeError(f"no class archive can be made: {reason}")
    path = archive_path({**os.environ, "JAVA_HOME": str(find_java_home())})
    until = time.monotonic() + PATIENCE_SECONDS
    command = [sys.executable, "-m", "falkirk.runtime.startup"]
    while not path.is_file():
        if time.monotonic() > until:
            raise RuntimeError(f"no class archive was made; try: {' '.join(command[1:])}")
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        time.sleep(PAUSE_SECONDS)

"""The process that dies in a person's rollback: ``python -m tests.spark.repair_child FOLDER``.

The rollback is durable, and its sink is about to take back what it has shown.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.spark.test_repairing import Running, epochs_in

import falkirk as fk


def die(sink: fk.ParquetSink, name: str, kept: Any) -> None:
    """Does not come to take anything back."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path) -> None:
    """Pins a flow, lets its feed go foul, and asks it to go back."""
    fk.ParquetSink.undo = die  # type: ignore[method-assign]
    shown = folder / "out"
    run = Running(None, folder / "state", fk.ParquetSink(shown))
    run.until(lambda: len(epochs_in(shown)) > 2)
    run.told("pin", "before", "--why", "a new feed")
    run.tap.foul, last = True, max(epochs_in(shown))
    run.until(lambda: max(epochs_in(shown)) > last + 5)
    run.command("rollback", "--to", "sums@before", "--yes", "--reason", "the feed was foul")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

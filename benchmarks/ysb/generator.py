"""The generator, a process of its own: a file of events every so often, moved in when it is due.

An event bears the moment of the world's time at which it happens, and leaves with the others of its
file when the last of them has happened. Clocks are shifted by a constant, so that a window begins
with the stream. When each file was there is written down: file number and monotonic seconds.
"""

import argparse
import os
import time
from pathlib import Path

from benchmarks.ysb.stream import Piece, pieces


def emit(folder: Path, stream: list[Piece], emitted: Path) -> None:
    """Moves each file in when its time is over; the first begins now."""
    staged = folder / "staged"
    staged.mkdir(exist_ok=True)
    started = time.monotonic() - stream[0].begin_ms / 1e3
    with emitted.open("w", buffering=1) as journal:
        for piece in stream:
            path = staged / piece.name
            path.write_text(piece.text(), "ascii")
            due = started + (piece.begin_ms + piece.span_ms) / 1e3
            time.sleep(max(0.0, due - time.monotonic()))
            os.utime(path)
            path.rename(folder / "in" / piece.name)
            journal.write(f"{piece.number} {time.monotonic()!r}\n")


def main() -> None:
    """Emits what the command line describes and ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("emitted", type=Path)
    for name in ("first", "count", "begin_ms", "span_ms", "events"):
        parser.add_argument(name, type=int)
    chosen = vars(parser.parse_args())
    folder, emitted = chosen.pop("folder"), chosen.pop("emitted")
    emit(folder, pieces(**chosen), emitted)


if __name__ == "__main__":
    main()

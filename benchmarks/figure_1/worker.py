"""The process that is measured: ``python -m benchmarks.figure_1.worker``.

It is the demonstration's, under a contender's policies. It writes down besides when an epoch of
records was admitted and when everything that came of it was durable.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figure_1.contenders import CONTENDERS
from falkirk.core.machine.boundary import whole_epochs
from falkirk.demo.figure_1.child import Written, arguments, run_until_told
from falkirk.demo.figure_1.flow import figure_1
from falkirk.demo.figure_1.records import Records


@dataclass(frozen=True)
class Admitted(Records):
    """Records that note in a file when each epoch was read."""

    path: Path = field(kw_only=True, compare=False)

    def read(self, session: Any, start: int, end: int) -> Any:
        """The records of one epoch."""
        with self.path.open("a", encoding="ascii") as file:
            file.write(f"{start // self.rows_per_epoch} {time.time()}\n")
        return Records.read(self, session, start, end)


class Stable(Written):
    """Writes down besides how far records are acknowledged."""

    def acknowledged(self, processor: str, frontier: Any) -> None:
        """All that came of these epochs is durable, and nobody will go back behind them."""
        if processor == "records":
            self._write("stable", epoch=whole_epochs(frontier))


def main() -> None:
    """Runs the flow until it is told to stop."""
    parser = arguments()
    parser.add_argument("--contender", choices=CONTENDERS, required=True)
    parser.add_argument("--interval", type=float, required=True)
    given = parser.parse_args()
    contender = CONTENDERS[given.contender]
    server = contender.server("user BIGINT", path="/query", port=given.port)
    source = Admitted(given.rows, given.seconds, path=given.events.with_name("admitted.txt"))
    regimes = contender.regimes(given.interval)
    flow = figure_1(source, server, given.database, regimes=regimes)
    run_until_told(flow, server, given, Stable)


if __name__ == "__main__":
    main()

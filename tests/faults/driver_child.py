"""The process that is killed: ``python -m tests.faults.driver_child FOLDER STRIKE [FAULT]``."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

from tests.faults.differential_flow import components
from tests.faults.driver_flows import mixed, pair, running
from tests.faults.driver_strikes import Striker, StruckStore, read_strike

from falkirk.core.machine.events import Retract
from falkirk.dataflow.description import describe
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared, session_for
from falkirk.store import open_store

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""A process that lives for seconds should not compile for hours; and it leaves no files."""

STORE = "FALKIRK_CHILD_STORE"
"""The variable that says where the store is, if it is not in the folder."""

log = logging.getLogger("falkirk.child")


class Recoveries(logging.Handler):
    """Tells a striker of every line that a recovery logs."""

    def __init__(self, striker: Striker) -> None:
        """A handler for ``falkirk.recovery``."""
        super().__init__(logging.INFO)
        self.striker = striker

    def emit(self, record: Any) -> None:
        """A processor goes back."""
        self.striker.at("goes back")


def main(folder: Path, text: str, fault: str = "") -> None:
    """Runs the flow on the store in ``folder``, to its end or to the strike."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    strike = read_strike(text)
    striker, drivers = Striker(strike), list[Driver]()
    logging.getLogger("falkirk.recovery").addHandler(Recoveries(striker))

    def transacted(number: int, effects: str) -> None:
        log.info("transaction %d: %s", number, effects)
        if number == strike.loss:
            driver = drivers[0]
            driver.tell(driver.failures.lost, frozenset(strike.losers), RuntimeError("gone"))

    dropping = [Retract] if "no-retract" in fault else []
    address = os.environ.get(STORE, folder / "state")
    store: Any = StruckStore(open_store(address), striker, transacted, dropping)
    if fault == "running":
        flow = running(folder, striker)
    elif "pair" in fault:
        flow = pair(folder, striker)
    elif fault == "components":
        flow = components(folder, striker)
    else:
        flow = mixed(folder, striker, careful=fault != "careless-sink")
    blueprint = flow.build()
    # The state of this flow is small; it is divided all the same, as that of large ones.
    options = Options(small_bytes_max=0 if strike.cached else 1 << 25, divided_bytes_min=0)
    with held(store):
        store.adopt(describe(blueprint))
        with session_for(None, blueprint.name, "local[2]", settings(folder)) as session:
            drivers.append(prepared(blueprint, store, session, options))
            report = drivers[0].run()
    log.info("FINISHED: %s", "; ".join(report.summary()))


def settings(folder: Path) -> dict[str, str]:
    """Spark keeps to the folder."""
    return {
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder / 'tmp'} {JAVA}",
        "spark.sql.warehouse.dir": str(folder / "tmp" / "warehouse"),
        "spark.sql.shuffle.partitions": "1",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

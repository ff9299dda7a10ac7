"""The process that is killed: ``python -m tests.faults.connector_child SETTINGS STRIKE``.

SETTINGS is JSON: the folder, the database, a source, branches of policies and sinks, and a fault.
"""

import json
import logging
import sys
from pathlib import Path
from typing import Any

from tests.faults import connector_snapshots
from tests.faults.connector_parts import flow_of
from tests.faults.connector_snapshots import SNAPSHOT_EVERY
from tests.faults.connector_strikes import StruckSource, struck_by, watch_commits
from tests.faults.connector_world import World
from tests.faults.driver_child import settings
from tests.faults.driver_strikes import Striker, StruckStore, read_strike

from falkirk.connectors.sql.marks import Marks
from falkirk.dataflow.description import describe
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared, session_for
from falkirk.store import open_store

log = logging.getLogger("falkirk.child")


def main(given: dict[str, Any], text: str) -> None:
    """Runs the flow to its end or to the strike."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    striker = Striker(read_strike(text))
    world = World(Path(given["folder"]), given["postgres"], given["kafka"], given["mariadb"])
    if given["fault"] == "forgetful":
        Marks.move = lambda *_: True  # type: ignore[method-assign]
    if given["fault"] == "amnesiac":
        lose_the_count(born_again=(world.folder / "state").exists())
    watch_commits(striker)
    flow = flow_of(world, given["source"], given["branches"], struck_by(striker))
    blueprint = flow.build()

    def transacted(number: int, effects: str) -> None:
        log.info("transaction %d: %s", number, effects)

    store: Any = StruckStore(open_store(world.folder / "state"), striker, transacted)
    with held(store):
        store.adopt(describe(blueprint))
        chosen = {**settings(world.folder), "spark.jars": given["jars"]}
        with session_for(None, blueprint.name, "local[2]", chosen) as session:
            report = prepared(blueprint, store, session, Options()).run()
    log.info("FINISHED: %s", "; ".join(report.summary()))


def lose_the_count(born_again: bool) -> None:
    """A first life that comes to the first snapshot, and a second one that ignores its state."""
    if born_again:
        connector_snapshots.counted = lambda batches: 0
    else:
        StruckSource.epochs_max = SNAPSHOT_EVERY


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])

"""The service that is killed: ``python -m tests.faults.http_child FOLDER PORT STRIKE MODE``."""

import logging
import sys
from pathlib import Path
from typing import Any

from tests.faults.driver_child import settings
from tests.faults.driver_strikes import Strike, Striker, StruckStore, read_strike

import falkirk as fk
from falkirk.dataflow.description import describe
from falkirk.runtime.run import drive, held, session_for
from falkirk.store import open_store

SCHEMA = "client BIGINT NOT NULL, amount BIGINT NOT NULL"


class StruckRequests(fk.HttpRequests):
    """Requests, with moments to strike."""

    striker = Striker()

    def read(self, session: Any, start: int, end: int) -> Any:
        """Before requests go into the flow."""
        self.striker.at("read")
        return super().read(session, start, end)

    def commit(self, end: int) -> None:
        """Before answers may go out, and after they were told to."""
        self.striker.at("commit")
        super().commit(end)
        self.striker.at("commit done")


class StruckSink:
    """A sink, with moments to strike."""

    def __init__(self, sink: Any, striker: Striker, name: str) -> None:
        self.sink, self.striker, self.moment = sink, striker, name

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Before and after a time is written."""
        self.striker.at(self.moment)
        self.sink.write(name, time, batch)
        self.striker.at(f"{self.moment} done")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sink, name)


def service(folder: Path, port: int, striker: Striker, mode: str) -> fk.Dataflow:
    """Orders: each gets a receipt, and is a row of a table by its key."""
    StruckRequests.striker = striker
    server = StruckRequests(SCHEMA, path="/orders", port=port, timeout_seconds=20)
    flow = fk.Dataflow("orders")
    orders = flow.read(server, name="orders")
    with flow.policy(fk.ephemeral()):
        receipts = orders.select("_request", "client", "2 * amount AS price")
        booked = orders.select("_key", "client", "2 * amount AS price")
    receipts.write(StruckSink(server.answers(), striker, "answer"), name="receipts")
    key = "_key" if mode == "upsert" else ()
    table = fk.TableSink(f"sqlite:///{folder / 'orders.db'}", "orders", mode=mode, key=key)
    booked.write(StruckSink(table, striker, "sink"), name="booked")
    per_client = orders.group_by("client").count(name="count", policy=fk.lazy(every=3))
    per_client.write(fk.ParquetSink(folder / "counts"), name="counts")
    return flow


def main(folder: Path, port: int, strike: Strike, mode: str) -> None:
    """Serves until it is struck, or told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    striker = Striker(strike)
    store: Any = StruckStore(open_store(folder / "state"), striker, lambda number, effects: None)
    blueprint = service(folder, port, striker, mode).build()
    with held(store):
        store.adopt(describe(blueprint))
        with session_for(None, blueprint.name, "local[2]", settings(folder)) as session:
            drive(blueprint, store, session, fk.Options())
    logging.info("FINISHED")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), read_strike(sys.argv[3]), sys.argv[4])

"""The process that is killed between Kafka and Kafka, and between Kafka and a table.

``python -m tests.faults.kafka_child FOLDER PLACES STRIKE [FAULT]``. The moments of Kafka's own
client are struck too: before, inside and after a transaction is committed.
"""

import json
import logging
import sys
import threading
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from tests.faults.driver_child import JAVA
from tests.faults.driver_strikes import Striker, StruckStore, read_strike

import falkirk as fk
from falkirk.connectors.kafka import KafkaSink, KafkaSource, producing, text
from falkirk.runtime.run import run
from falkirk.store import open_store

log = logging.getLogger("falkirk.child")


class StruckSource(KafkaSource):
    """A source that tells when it reads and when it is acknowledged."""

    striker: Striker

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """Reads."""
        self.striker.at("read")
        return super().read(session, start, end)

    def commit(self, end: Any) -> None:
        """Acknowledges."""
        self.striker.at("acknowledge")
        super().commit(end)
        self.striker.at("acknowledged")


class StruckSink:
    """A sink that tells when it begins and when it has done a time."""

    exactly_once = True

    def __init__(self, sink: Any, striker: Striker) -> None:
        """A sink like ``sink``."""
        self.sink, self.striker = sink, striker

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes."""
        self.striker.at("sink")
        self.sink.write(name, time, batch)
        self.striker.at("sink done")
        self.striker.at(f"{name} done")

    def __getattr__(self, name: str) -> Any:
        """Everything else is the sink's own."""
        return getattr(self.sink, name)


def struck_producer(striker: Striker) -> type:
    """Kafka's producer, which tells how far a transaction has come."""

    class Struck(Producer):
        def produce(self, *args: Any, **more: Any) -> None:
            striker.at("produce")
            super().produce(*args, **more)

        def commit_transaction(self, *args: Any) -> None:
            striker.at("commit")
            if striker.comes("commit under way"):
                threading.Thread(target=after, args=(striker,)).start()
            super().commit_transaction(*args)
            striker.at("committed")

    return Struck


def after(striker: Striker) -> None:
    """Ends the process a moment later."""
    time.sleep(striker.strike.milliseconds / 1000)
    striker.kill()


def flow_of(folder: Path, places: dict[str, Any], striker: Striker, fault: str) -> fk.Dataflow:
    """From a topic to two topics and a table."""
    servers, careful = places["servers"], fault != "no-transactions"
    StruckSource.striker = striker
    source = StruckSource(
        servers, places["into"], group=places["group"], until=places["until"], driver_rows_max=1000
    )
    flow = fk.Dataflow("kafka")
    lines = flow.read(source, name="lines", limit=10).select(text(), text("key"))
    copies = KafkaSink(servers, places["copies"], value="value", transactional=careful)
    totals = KafkaSink(servers, places["totals"], key="key")
    table = fk.TableSink(f"sqlite:///{folder / 'table.sqlite'}", "copies")
    lines.write(StruckSink(copies, striker), name="copies")
    lines.write(StruckSink(table, striker), name="table")
    counts = lines.group_by("key").count(name="counts", policy=fk.lazy(every=2))
    counts.write(StruckSink(totals, striker), name="totals")
    return flow


def main(folder: Path, places: str, strike: str, fault: str = "") -> None:
    """Runs the flow on the store in ``folder``, to its end or to the strike."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    striker = Striker(read_strike(strike))
    producing.Producer = struck_producer(striker)  # type: ignore[misc]

    def transacted(number: int, effects: str) -> None:
        log.info("transaction %d: %s", number, effects)

    store: Any = StruckStore(open_store(folder / "state"), striker, transacted)
    settings = {
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder / 'tmp'} {JAVA}",
        "spark.sql.warehouse.dir": str(folder / "tmp" / "warehouse"),
        "spark.sql.shuffle.partitions": "1",
    }
    flow = flow_of(folder, json.loads(places), striker, fault)
    report = run(flow, store, master="local[2]", settings=settings)
    log.info("FINISHED: %s", "; ".join(report.summary()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

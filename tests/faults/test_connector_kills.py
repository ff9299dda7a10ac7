"""Drivers die before, during and after what they do outside, and the outside cannot tell (§4.3).

Each source feeds every sink, under policies that take turns: so each two of a source, a sink and a
policy meet; of the sources that are tables, those in PostgreSQL, and of the two formats of files
one at a time. With ``FALKIRK_KILLS_ALL=1`` the policies take turns in every way, so that each three
meet, MariaDB is there too, and there are more kills.
``FALKIRK_SEED`` says where the seeds begin.
"""

import json
import os
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.faults.connector_parts import POLICIES, Branch, judge
from tests.faults.connector_sinks import SINKS
from tests.faults.connector_sources import SOURCES
from tests.faults.connector_strikes import seeded
from tests.faults.connector_world import World
from tests.faults.driver_strikes import Strike
from tests.faults.killing import Campaign
from tests.servers.jars import jars, needed
from tests.servers.mariadb import Mariadb
from tests.servers.postgres import Server

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(1200)]

FIRST_SEED = int(os.environ.get("FALKIRK_SEED", "0"))
ALL = bool(os.environ.get("FALKIRK_KILLS_ALL"))
KILLS = 5 if ALL else 2
COMMAND = ".venv/bin/python -m pytest tests/faults/test_connector_kills.py"


def taking_turns(first: int) -> list[Branch]:
    """Every sink, under policies that take turns from ``first`` on; some only where all meet."""
    left_out = [] if ALL else ["delta", ("json", "parquet")[first % 2]]
    wanted = [sink for sink in SINKS if ALL or not sink.endswith("mariadb")]
    policies, sinks = list(POLICIES), [sink for sink in wanted if sink not in left_out]
    return [(policies[(first + i) % len(policies)], sink) for i, sink in enumerate(sinks)]


CASES: list[tuple[str, list[Branch]]] = (
    [(source, taking_turns(first)) for source, first in product(SOURCES, range(len(POLICIES)))]
    if ALL
    else [
        (source, taking_turns(number))
        for number, source in enumerate(s for s in SOURCES if not s.endswith(("sqlite", "mariadb")))
    ]
)


@dataclass
class Connected(Campaign):
    """A campaign whose outside is chosen by name."""

    postgres: str = ""
    kafka: str = ""
    mariadb: str = ""
    source: str = ""
    branches: tuple[Branch, ...] = ()

    def command(self, strike: Strike) -> list[str]:
        """What starts a driver that will be struck."""
        given = {
            "folder": str(self.folder),
            "postgres": self.postgres,
            "kafka": self.kafka,
            "mariadb": self.mariadb,
            "source": self.source,
            "branches": self.branches,
            "fault": self.fault,
            "jars": ",".join(map(str, jars("delta"))) if self.has_delta else "",
        }
        child = [sys.executable, "-m", "tests.faults.connector_child"]
        return [*child, json.dumps(given), str(strike)]

    @property
    def has_delta(self) -> bool:
        """Whether Spark needs Delta's kernel."""
        return any(sink == "delta" for _, sink in self.branches)

    def judge(self) -> list[str]:
        """What is wrong outside."""
        return judge(self.world, self.source, self.branches)

    @property
    def world(self) -> World:
        """What is outside."""
        return World(self.folder, self.postgres, self.kafka, self.mariadb)


@pytest.fixture(scope="module")
def brokers(request: pytest.FixtureRequest) -> str:
    """Where Kafka is; empty where it cannot be had, and then the rest is still tested."""
    try:
        return str(request.getfixturevalue("kafka").servers)
    except pytest.skip.Exception:
        return ""


@pytest.fixture(scope="module")
def tables(request: pytest.FixtureRequest) -> Mariadb | None:
    """The server of MariaDB, where it is among what is killed."""
    found: Mariadb | None = request.getfixturevalue("mariadb") if ALL else None
    return found


def campaign(
    folder: Path,
    server: Server,
    source: str,
    branches: list[Branch],
    fault: str = "",
    kafka: str = "",
    mariadb: str = "",
) -> Connected:
    """A campaign with a source that is filled, and sinks that are empty."""
    kept = tuple(branch for branch in branches if kafka or branch[1] != "kafka")
    if not kept or (source == "kafka" and not kafka):
        pytest.skip("no Kafka broker can be started here")
    found = Connected(folder, fault, postgres=server.new_database(), source=source, branches=kept)
    found.kafka, found.mariadb = kafka, mariadb
    if found.has_delta:
        needed("delta", "Delta's kernel")
    SOURCES[source].fill(found.world)
    return found


def name_of(case: Any) -> str:
    """A case in a command: its source, and the policy of the first sink."""
    source, ((policy, _), *_) = case
    return f"{source}-{policy}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_kills(
    tmp_path: Path,
    postgres: Server,
    brokers: str,
    tables: Mariadb | None,
    case: tuple[str, list[Branch]],
) -> None:
    seed = FIRST_SEED + CASES.index(case)
    again = f"{'FALKIRK_KILLS_ALL=1 ' * ALL}FALKIRK_SEED={FIRST_SEED} {COMMAND} -k {name_of(case)}"
    mariadb = tables.new_database() if tables else ""
    struck = campaign(tmp_path, postgres, *case, kafka=brokers, mariadb=mariadb)
    try:
        for strike in seeded(seed, KILLS):
            if not struck.finished:
                struck.strike(strike)
        wrong = struck.finish()
        if not struck.kills:
            wrong.append("nobody was killed")
    except AssertionError as error:
        wrong = [str(error)]
    story = ["what happened:", *struck.transcript, f"again: {again}"]
    assert not wrong, "\n".join([*wrong, *story])
    print("\n".join(struck.transcript))


@pytest.mark.skipif(ALL, reason="every source meets it then")
def test_a_delta_table_has_a_time_once_that_was_committed_and_not_receipted(
    tmp_path: Path, postgres: Server
) -> None:
    struck = campaign(tmp_path, postgres, "table-sqlite", [("lazy", "delta")])
    assert struck.strike(Strike("sink done", 2))
    wrong = struck.finish()
    assert not wrong, "\n".join([*wrong, *struck.transcript])


def test_a_sink_that_forgets_its_mark_is_found_out(tmp_path: Path, postgres: Server) -> None:
    """The check has teeth: a time that was written and not yet receipted is written twice."""
    branches = [("lazy", "append-postgres"), ("eager", "append-sqlite")]
    struck = campaign(tmp_path, postgres, "table-sqlite", branches, fault="forgetful")
    assert struck.strike(Strike("sink done", 3))
    wrong = struck.finish()
    assert any("too many {(" in each for each in wrong), struck.transcript


@pytest.mark.skipif(not ALL, reason="it takes longer than it is worth every time")
def test_a_count_that_is_lost_with_a_snapshot_is_found_out(
    tmp_path: Path, postgres: Server
) -> None:
    """The check has teeth: whoever restores a snapshot without its state changes the numbers."""
    branches = [("snapshot", "append-sqlite")]
    struck = campaign(tmp_path, postgres, "table-sqlite", branches, fault="amnesiac")
    assert struck.strike(Strike("sink done"))
    wrong = struck.finish()
    assert any("lost {(" in each for each in wrong), struck.transcript

"""Drivers are killed between Kafka and Kafka, and Kafka itself has every record once (§4.3).

``FALKIRK_KILLS`` says how many, ``FALKIRK_SEED`` with which seed they begin.
"""

import json
import os
import sqlite3
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from tests.faults.driver_strikes import Strike
from tests.faults.killing import Campaign
from tests.servers.kafka import Broker
from tests.servers.topics import Topics

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(1200)]

KILLS = int(os.environ.get("FALKIRK_KILLS", "3"))
SEED = int(os.environ.get("FALKIRK_SEED", "0"))
COMMAND = ".venv/bin/python -m pytest tests/faults/test_kafka_kills.py -k seeded"

RECORDS = 160
KEYS = 4

MOMENTS = {
    "produce": 60,
    "commit": 12,
    "commit under way": 12,
    "committed": 12,
    "sink": 12,
    "sink done": 12,
    "read": 6,
    "acknowledge": 4,
    "acknowledged": 4,
    "transaction": 8,
    "transaction inside": 8,
    "transaction done": 8,
}
"""Every moment, with the highest number that a seed chooses for it."""


@dataclass
class Topical(Campaign):
    """Topics, a store and a table; and one driver after the other."""

    topics: Topics = field(default_factory=lambda: Topics(""))
    places: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Fills the topic that is read."""
        into = self.topics.new_topic(2)
        for number in range(KEYS):
            for partition in range(2):
                values = range(number + KEYS * partition, RECORDS, 2 * KEYS)
                self.topics.send(into, values, partition, "commit", key=f"key {number}")
        self.places = {
            "servers": self.topics.servers,
            "into": into,
            "until": {into: dict.fromkeys(range(2), RECORDS // 2 + KEYS)},
            "group": f"group-{uuid4().hex}",
            "copies": self.topics.new_topic(2),
            "totals": self.topics.new_topic(2),
        }

    def command(self, strike: Strike) -> list[str]:
        """What starts a driver that will be struck."""
        words = [str(self.folder), json.dumps(self.places), str(strike), self.fault]
        return [sys.executable, "-m", "tests.faults.kafka_child", *words]

    def judge(self) -> list[str]:
        """What is wrong with what Kafka and the table hold."""
        wrong = []
        once = Counter(str(number) for number in range(RECORDS))
        copies = Counter(self.topics.values(self.places["copies"]))
        if copies != once:
            wrong.append(f"the copies are off: {off(copies, once)}")
        with sqlite3.connect(self.folder / "table.sqlite") as connection:
            rows = Counter(value for (value,) in connection.execute("SELECT value FROM copies"))
        connection.close()
        if rows != once:
            wrong.append(f"the table is off: {off(rows, once)}")
        totals: dict[str, list[int]] = {}
        for message in self.topics.records(self.places["totals"]):
            row = json.loads(message.value())
            totals.setdefault(row["key"], []).append(row["count"])
        for key, counts in totals.items():
            if sorted(set(counts)) != counts or counts[-1] != RECORDS // KEYS:
                wrong.append(f"{key} was counted {counts}")
        if len(totals) != KEYS:
            wrong.append(f"only {sorted(totals)} were counted")
        ends = self.places["until"][self.places["into"]]
        committed = self.topics.committed(self.places["group"], self.places["into"], 2)
        if committed != list(ends.values()):
            wrong.append(f"the group has {committed}, and {ends} were read")
        return wrong


def off(found: Counter[str], wanted: Counter[str]) -> str:
    """What is missing and what is too much."""
    return f"missing {sorted(wanted - found)}, too many {sorted(found - wanted)}"


def seeded_strikes(seed: int, count: int) -> list[Strike]:
    """The strikes of a seed, no moment twice before all have come."""
    random = Random(seed)
    moments: list[str] = []
    while len(moments) < count:
        moments += random.sample(sorted(MOMENTS), len(MOMENTS))
    return [
        Strike(moment, random.randint(1, MOMENTS[moment]), milliseconds=random.randint(0, 40))
        for moment in moments[:count]
    ]


def test_seeded_kills(kafka: Broker, tmp_path: Path) -> None:
    campaigns = [Topical(tmp_path / "1", topics=kafka)]
    wrong: list[str] = []
    for strike in seeded_strikes(SEED, KILLS):
        if campaigns[-1].finished:
            wrong += campaigns[-1].judge()
            campaigns.append(Topical(tmp_path / str(len(campaigns) + 1), topics=kafka))
        campaigns[-1].strike(strike)
    wrong += campaigns[-1].finish()
    story = [line for campaign in campaigns for line in campaign.transcript]
    replay = f"again: FALKIRK_SEED={SEED} FALKIRK_KILLS={KILLS} {COMMAND}"
    assert not wrong, "\n".join([*wrong, *story, replay])
    assert sum(campaign.kills for campaign in campaigns) > KILLS // 2, "\n".join(story)
    print("\n".join(story))


def test_a_sink_without_transactions_is_found_out(kafka: Broker, tmp_path: Path) -> None:
    """The check has teeth: what was written and not yet receipted is there twice."""
    campaign = Topical(tmp_path, "no-transactions", topics=kafka)
    assert campaign.strike(Strike("copies done", 2))
    (wrong,) = campaign.finish()
    assert wrong.startswith("the copies are off: missing [], too many ['")

"""A service is killed again and again while clients retry: each has one answer and one row.

``FALKIRK_HTTP_KILLS`` says how many kills there are, ``FALKIRK_SEED`` with which seed they begin.
"""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import httpx
import pytest
from tests.faults.driver_strikes import NEVER, Strike
from tests.faults.killing import ROOT, Campaign, kill_group

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(900)]

KILLS = int(os.environ.get("FALKIRK_HTTP_KILLS", "2"))
SEED = int(os.environ.get("FALKIRK_SEED", "0"))
CLIENTS = 8
SECONDS_MAX = 240
MOMENTS = {
    "read": 8,
    "answer": 8,
    "answer done": 8,
    "commit": 6,
    "commit done": 6,
    "sink": 8,
    "sink done": 8,
    "transaction": 12,
    "transaction inside": 12,
    "transaction done": 12,
}


@dataclass
class Service:
    """The service in its folder, one process after the other."""

    folder: Path
    mode: str = "upsert"
    port: int = 0
    starts: int = 0
    process: Any = None
    transcript: list[str] = field(default_factory=list)

    def start(self, strike: Strike) -> None:
        """Starts a process that will be struck."""
        self.starts += 1
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        arguments = [str(self.folder), str(self.port), str(strike), self.mode]
        with (self.folder / f"run-{self.starts}.log").open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.http_child", *arguments],
                cwd=ROOT,
                env=Campaign(self.folder).environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, expected: int) -> None:
        """Waits for the end of the process, which is to be ``expected``."""
        try:
            status = self.process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            status = "none"
        kill_group(self.process)
        log = (self.folder / f"run-{self.starts}.log").read_text(errors="replace")
        self.transcript.append(f"start {self.starts}: status {status}\n{log[-1500:]}")
        assert status == expected, "\n".join(self.transcript)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/orders"

    def rows(self) -> list[tuple[str, int, int]]:
        """What the database holds."""
        with closing(sqlite3.connect(self.folder / "orders.db")) as connection:
            return connection.execute('SELECT "_key", client, price FROM orders').fetchall()


@dataclass
class Client:
    """Sends orders, each with a key of its own and until it has a receipt."""

    number: int
    enough: Event
    answers: dict[str, list[Any]] = field(default_factory=dict)
    refused: int = 0

    def work(self, url: str) -> None:
        """Orders until it is enough."""
        random, count = Random(self.number), 0
        with httpx.Client(timeout=60) as http:
            while not self.enough.is_set():
                count += 1
                self.order(http, url, f"{self.number}-{count}", random.randrange(1000))

    def order(self, http: httpx.Client, url: str, key: str, amount: int) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                body = {"client": self.number, "amount": amount}
                answer = http.post(url, json=body, headers={"Idempotency-Key": key})
            except httpx.TransportError:
                self.refused += 1
                time.sleep(0.2)
                continue
            if answer.status_code == 200:
                self.answers.setdefault(key, []).append((answer.json(), amount))
                return
            assert answer.status_code in (429, 503, 504), answer.text
            time.sleep(0.2)
        raise AssertionError(f"no receipt for {key} in {SECONDS_MAX} seconds")


def besieged(service: Service, strikes: Sequence[Strike]) -> list[Client]:
    """Kills the service at every strike, under load, and lets it stop in the end."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        service.port = free.getsockname()[1]
    enough = Event()
    clients = [Client(number, enough) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        working = [pool.submit(client.work, service.url) for client in clients]
        try:
            for strike in strikes:
                service.start(strike)
                service.wait(-signal.SIGKILL)
            service.start(NEVER)
        finally:
            enough.set()
        for each in working:
            each.result()
        service.process.send_signal(signal.SIGTERM)
        service.wait(0)
    return clients


def seeded(seed: int, count: int) -> list[Strike]:
    random = Random(seed)
    chosen = [random.choice(list(MOMENTS)) for _ in range(count)]
    return [Strike(moment, random.randint(1, MOMENTS[moment])) for moment in chosen]


def test_every_client_has_one_answer_and_the_database_one_row_a_request(tmp_path: Path) -> None:
    service, strikes = Service(tmp_path), seeded(SEED, KILLS)
    clients = besieged(service, strikes)
    again = f"FALKIRK_SEED={SEED} FALKIRK_HTTP_KILLS={KILLS} pytest tests/faults/test_http_kills.py"
    story = f"{strikes}\nagain: {again}"
    orders = {key: given for client in clients for key, given in client.answers.items()}
    assert len(orders) > CLIENTS, story
    for key, given in orders.items():
        client = int(key.partition("-")[0])
        ((receipt, amount),) = given
        assert receipt == {"client": client, "price": 2 * amount}, story
    expected = sorted(
        (key, int(key.partition("-")[0]), 2 * given[0][1]) for key, given in orders.items()
    )
    assert sorted(service.rows()) == expected, story
    assert sum(client.refused for client in clients), "nobody noticed that it was killed"


def test_without_a_key_a_retry_is_a_second_row(tmp_path: Path) -> None:
    """The check has teeth: what was durable and not yet answered is there twice."""
    service = Service(tmp_path, mode="append")
    besieged(service, [Strike("commit", 2)])
    keys = [key for key, _, _ in service.rows()]
    assert len(keys) > len(set(keys))

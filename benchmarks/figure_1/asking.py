"""Users who ask at moments of their own, whether or not earlier questions were answered.

Users who wait for their answer before they ask again would fall into step with snapshots: all of
them would ask right after one, and few while answers are slow.
"""

from dataclasses import dataclass
from random import Random
from threading import Thread
from time import time

from falkirk.demo.figure_1.clients import Clients, Query
from falkirk.demo.figure_1.records import USERS


@dataclass
class OpenClients(Clients):
    """A new query every ``pause`` seconds on average, at random, each on a thread of its own."""

    def start(self) -> None:
        """They begin to ask."""
        self._threads = [Thread(target=self._ask_at_random, daemon=True)]
        self._threads[0].start()

    def _ask_at_random(self) -> None:
        random = Random(self.seed)
        while not self._stopping.wait(random.expovariate(1 / self.pause)):
            query = Query(f"{len(self.queries)}", random.randrange(USERS), time())
            self.queries.append(query)
            thread = Thread(target=self._insist, args=(query,), daemon=True)
            self._threads.append(thread)
            thread.start()

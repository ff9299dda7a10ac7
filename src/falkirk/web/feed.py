"""The feed: what all open pages show, kept up to date by a run or by looks at its store."""

import time
from asyncio import AbstractEventLoop, Queue
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from falkirk.core.errors import FalkirkError
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.inspection.look import Look, look_at, opened
from falkirk.inspection.recoveries import Remembered, remembered
from falkirk.runtime.listening import Listener, RollbackNotice
from falkirk.runtime.progress import Progress
from falkirk.web import shapes
from falkirk.web.pages import Message, Pages, encoded
from falkirk.web.recoveries import Ends, observed, retold, told
from falkirk.web.shapes import Values, changed

TRAIL_POINTS_MAX = 60_000
TRAIL_SAMPLES_MAX = 240
"""How many moments of the past a page is told when it opens; fewer if there are many processors."""

RECOVERIES_MAX = 200
RATE_SECONDS = 4.0
"""Rows a second are measured over so long."""


class Feed(Listener):
    """Listens to a run, or is shown looks at a store, and tells pages what changes."""

    def __init__(self, place: str | None, live: bool = True) -> None:
        """A flow of which nothing is known yet; ``place`` is its store, if it can be opened."""
        self.place, self.live = place, live
        self.state: Values = {"state": "starting", "at": time.time(), "error": None}
        self.graph: Values | None = None
        self.values: dict[ProcessorId, Values] = {}
        self.edges: dict[EdgeId, list[Any]] = {}
        self.recoveries: dict[int, Values] = {}
        self.trail: deque[tuple[float, list[int | None]]] = deque(maxlen=TRAIL_SAMPLES_MAX)
        self._ends: Ends = {}
        self._rates: deque[tuple[float, dict[ProcessorId, int]]] = deque()
        self._replayed = 0
        self._look: Look | None = None
        self.pages = Pages()
        self._lock = Lock()

    # Pages.

    def everything(self) -> Values:
        """All that a page needs to begin."""
        with self._lock:
            return self._everything()

    @contextmanager
    def opened(self, loop: AbstractEventLoop) -> Iterator[Queue[Message]]:
        """A queue of messages for one page, everything first; None means that it has to go."""
        with self._lock:
            page = self.pages.add(loop)
            page.tell(("everything", encoded(self._everything())))
        try:
            yield page.queue
        finally:
            with self._lock:
                self.pages.remove(page)

    def close(self) -> None:
        """All pages have to go."""
        with self._lock:
            self.pages.close()

    def _everything(self) -> Values:
        return {
            "live": self.live,
            "store": self.place,
            **self.state,
            "graph": self.graph,
            "processors": self.values,
            "edges": self.edges,
            "recoveries": list(self.recoveries.values()),
            "trail": [[at, places] for at, places in self.trail],
        }

    # A run that is listened to.

    def started(self, flow: str) -> None:
        """A run has begun."""
        look, known = self._details(), self._remembered()
        with self._lock:
            self.recoveries.clear()
            if look is not None:
                self._know(look, known)
            self.state = {"state": "running", "at": time.time(), "error": None}
            self.graph, self.values, self.edges = None, {}, {}
            self._rates.clear()
            self._replayed = 0
            self.pages.tell("everything", self._everything())

    def progressed(self, progress: Progress) -> None:
        """How the run stands."""
        look = self._details() if self.graph is None else None
        with self._lock:
            rates = self._measured(progress)
            values = {
                p: shapes.value_of(each, rates.get(p)) for p, each in progress.processors.items()
            }
            edges = {name: shapes.edge_value(each) for name, each in progress.edges.items()}
            self._replayed = progress.replayed_rows
            state = {
                "state": "running",
                "at": progress.at,
                "error": None,
                "number": progress.number,
                "uptime": progress.uptime_seconds,
                "writes_waiting": progress.writes_waiting,
                "releases_waiting": progress.releases_waiting,
                "commits": progress.commits,
            }
            graph = shapes.graph_of_progress(progress, look) if self.graph is None else self.graph
            self._show(graph, values, edges, state)

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """A recovery happened."""
        with self._lock:
            numbered = {
                ProcessorId(each["name"])
                for each in (self.graph or {"processors": []})["processors"]
                if each["numbered"]
            }
            ends = self._ends or self._stored_ends()
            entry = told(rollback, ends, numbered) | {"replayed": self._replayed}
            self._remember(entry)

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All who went back are where they were."""
        with self._lock:
            entry = self.recoveries.get(rollback.number)
            if entry is not None:
                rows = self._replayed - entry["replayed"]
                self._remember(entry | {"caught_up": seconds, "rows": rows})

    def ended(self, error: Exception | None) -> None:
        """The run is over."""
        with self._lock:
            words = None if error is None else f"{type(error).__name__}: {error}"
            self.state = self.state | {"state": "ended", "at": time.time(), "error": words}
            self.pages.tell("state", self.state)

    # A store that is looked at.

    def seen(self, look: Look, known: Iterable[Remembered] = ()) -> None:
        """How the flow stands by its store, which remembers recoveries."""
        with self._lock:
            before, self._look = self._look, look
            state: Values = {
                "state": look.holder.state,
                "at": look.now,
                "error": None,
                "holder": {"pid": look.holder.pid, "host": look.holder.host},
            }
            try:
                values = shapes.values_of_look(look)
            except FalkirkError as error:
                self._unwell(str(error))
                return
            edges = shapes.edge_values_of_look(look)
            self._show(shapes.graph_of_look(look), values, edges, state)
            if self._know(look, known) or before is None:
                return
            entry = observed(max(self.recoveries, default=0) + 1, before, look)
            if entry is not None:
                self._remember(entry)

    def unwell(self, trouble: str) -> None:
        """The store cannot be looked at."""
        with self._lock:
            self._unwell(trouble)

    def _unwell(self, trouble: str) -> None:
        if self.state.get("error") != trouble:
            self.state = self.state | {"error": trouble, "at": time.time()}
            self.pages.tell("state", self.state)

    @property
    def settled(self) -> int:
        """Up to which number recoveries are known and will not change any more."""
        numbers = (n for n, entry in self.recoveries.items() if entry["caught_up"] is None)
        return min(numbers, default=max(self.recoveries, default=0) + 1) - 1

    # What is kept.

    def _show(
        self,
        graph: Values,
        values: dict[ProcessorId, Values],
        edges: dict[EdgeId, list[Any]],
        state: Values,
    ) -> None:
        news = state | {
            "processors": changed(self.values, values),
            "edges": changed(self.edges, edges),
        }
        self.state, self.values, self.edges = state, values, edges
        self.trail.append((state["at"], [each["completed"][1] for each in values.values()]))
        while len(self.trail) * len(values) > TRAIL_POINTS_MAX and len(self.trail) > 2:
            self.trail.popleft()
        if graph != self.graph:
            self.graph = graph
            self._ends = {each["name"]: (each["source"], each["target"]) for each in graph["edges"]}
            self.pages.tell("everything", self._everything())
        else:
            self.pages.tell("progress", news)

    def _remember(self, entry: Values) -> None:
        self.recoveries[entry["number"]] = entry
        while len(self.recoveries) > RECOVERIES_MAX:
            del self.recoveries[next(iter(self.recoveries))]
        self.pages.tell("recovery", entry)

    def _measured(self, progress: Progress) -> dict[ProcessorId, float]:
        """Rows a second of each processor, over the last few seconds."""
        self._rates.append((progress.at, {p: e.rows for p, e in progress.processors.items()}))
        while len(self._rates) > 2 and progress.at - self._rates[0][0] > RATE_SECONDS:
            self._rates.popleft()
        began, before = self._rates[0]
        seconds = progress.at - began
        if seconds <= 0:
            return {}
        return {
            p: round(max(0, each.rows - before.get(p, 0)) / seconds, 1)
            for p, each in progress.processors.items()
        }

    def _know(self, look: Look, known: Iterable[Remembered]) -> bool:
        """Takes over what the store remembers; whether anything of that is new."""
        entries = retold(look, known)
        fresh = [entry for entry in entries if self.recoveries.get(entry["number"]) != entry]
        for entry in fresh:
            self._remember(entry)
        return bool(fresh)

    def _remembered(self) -> list[Remembered]:
        if self.place is None:
            return []
        try:
            with opened(self.place) as store:
                return remembered(store)
        except FalkirkError:
            return []

    def _details(self) -> Look | None:
        if self.place is None:
            return None
        try:
            return look_at(self.place)
        except FalkirkError:
            return None

    def _stored_ends(self) -> Ends:
        look = self._details()
        edges = look.flow.graph.edges if look is not None else {}
        return {name: (each.source, each.target) for name, each in edges.items()}

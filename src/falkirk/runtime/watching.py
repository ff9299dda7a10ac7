"""A monitor in a process of its own: low-watermarks from what the store announces (§4.2).

It is restartable at any moment and several may run at once: each computes the same fixed point from
the same announcements, and posts what only grows.
"""

import time
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.state import State
from falkirk.core.monitor import Completed, Monitor, Saved
from falkirk.core.times import ProcessorId
from falkirk.dataflow.rebuilding import flow_of
from falkirk.store.noticeboard import News, Notice, Noticeboard

POLL_SECONDS = 0.1


class Watcher:
    """Follows the announcements of one store."""

    def __init__(self, board: Noticeboard, flow: Flow | None = None, behind: int = 0) -> None:
        """Knows the flow, by default from the store's description, and nothing else yet.

        It posts low-watermarks that are ``behind`` epochs old: so far back a person can still go.
        """
        self.board, self.behind = board, behind
        self.flow = flow or flow_of(board.description())
        self.older: list[dict[ProcessorId, Any]] = []
        self.seen = -1
        self._start(News({}, {}, []))

    def look(self) -> dict[ProcessorId, Any]:
        """Takes what was announced since the last look; returns and posts what that raises."""
        news = self.board.news(self.seen)
        if news.incarnations != self.incarnations:
            # Somebody was rolled back, so some of what was announced does not hold any more.
            news = self.board.news(-1)
            self._start(news)
        for p, floor in news.floors.items():  # what was collected before we saw it was durable
            self.reached[p] = self.reached[p] | floor
        self.waiting += news.notices
        self.seen = max([self.seen, *(notice.number for notice in news.notices)])
        raised = self.monitor.update(self._linked()).watermarks
        if raised and self.behind:
            raised = self._older(self.watermarks())
        higher = {p: frontier for p, frontier in raised.items() if not frontier.is_empty}
        if higher:
            self.board.post(higher)
        return higher

    def _older(self, newest: dict[ProcessorId, Any]) -> dict[ProcessorId, Any]:
        """The newest of the older low-watermarks that is far enough behind, if there is one.

        They are kept and posted as a whole, for only together are they a consistent choice. One
        below which a person went since is none any more.
        """
        self.older = [each for each in self.older if all(each[p] <= newest[p] for p in each)]
        self.older.append(newest)
        due = [
            each for each in self.older if self._epoch(each) <= self._epoch(newest) - self.behind
        ]
        self.older = self.older[len(due) :]
        return due[-1] if due else {}

    def _epoch(self, watermarks: dict[ProcessorId, Any]) -> int:
        """How many epochs the inputs have behind them."""
        inputs = [p for p in watermarks if not self.flow.graph.inputs(p)]
        return max(int(whole_epochs(watermarks[p])) for p in inputs)

    def watermarks(self) -> dict[ProcessorId, Any]:
        """The low-watermarks as far as announcements were taken."""
        return {p: self.monitor.watermark(p) for p in self.flow.processors}

    def watch(
        self, stopped: Callable[[], bool], seen: Callable[[dict[ProcessorId, Any]], None]
    ) -> None:
        """Looks again and again until it is stopped."""
        while not stopped():
            raised = self.look()
            if raised:
                seen(raised)
            else:
                time.sleep(POLL_SECONDS)

    def _start(self, news: News) -> None:
        self.monitor: Monitor = State(self.flow).new_monitor()
        # A stateless processor announces nothing: who saved what it sent proves what it completed.
        self.monitor.update(
            Completed(p, self.flow.graph.domains[p].top)
            for p in self.flow.processors
            if self.flow.restores_anywhere(p)
        )
        self.incarnations = news.incarnations
        empty = {p: domain.empty for p, domain in self.flow.graph.domains.items()}
        self.reached: dict[ProcessorId, Any] = dict(empty)
        self.announced: dict[ProcessorId, Any] = dict(empty)
        self.waiting: list[Notice] = []
        self.seen = -1

    def _linked(self) -> list[Saved]:
        """The waiting checkpoints before which every earlier one of their processor is durable.

        Writes become durable in any order; of one processor, smaller frontiers come first here.
        """
        ready: list[Notice] = []
        linked = True
        while linked:
            linked = False
            for notice in list(self.waiting):
                p, frontier = notice.processor, notice.checkpoint.frontier
                if notice.previous <= self.reached[p] or frontier <= self.reached[p]:
                    linked = True
                    self.waiting.remove(notice)
                    self.reached[p] = self.reached[p] | frontier
                    ready.append(notice)
        found: list[Saved] = []
        for notice in sorted(ready, key=cmp_to_key(by_inclusion)):
            p, frontier = notice.processor, notice.checkpoint.frontier
            if not frontier <= self.announced[p]:
                self.announced[p] = frontier
                found.append(Saved(p, notice.checkpoint))
        return found


def by_inclusion(left: Notice, right: Notice) -> int:
    """Orders the checkpoints of one processor, which form a chain; others stay together."""
    if left.processor != right.processor:
        return -1 if left.processor < right.processor else 1
    if left.checkpoint.frontier == right.checkpoint.frontier:
        return 0
    return -1 if left.checkpoint.frontier <= right.checkpoint.frontier else 1

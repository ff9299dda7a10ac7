"""The recoveries of a run, written into its store for those who look later."""

from collections.abc import Callable, Iterable
from typing import Any

from falkirk.core.constraints import Violation
from falkirk.runtime.listening import RollbackNotice
from falkirk.store.codec import frontier_to_json
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.noting import Note
from falkirk.store.recoveries import fact

REASONS_MAX = 4
"""So many constraints are remembered of each processor."""


class History:
    """Numbers recoveries, also across runs, and writes them down."""

    def __init__(self, submit: Callable[[Note], None], board: Noticeboard) -> None:
        """``submit`` hands a note to the store; ``board`` knows how many there were."""
        self._submit = submit
        self._last = board.last_recovery()

    def number(self) -> int:
        """The number of the recovery that happens now."""
        self._last += 1
        return self._last

    def rolled_back(self, notice: RollbackNotice) -> None:
        """A recovery happened."""
        self._submit(Note(fact(written(notice))))

    def caught_up(self, notice: RollbackNotice, seconds: float, rows: int) -> None:
        """All who went back are where they were, and ``rows`` were processed again for that."""
        self._submit(Note(fact(written(notice) | {"caught_up": seconds, "rows": rows})))


def written(notice: RollbackNotice) -> dict[str, Any]:
    """A recovery as a JSON value. Of those who keep all that they had there is only the number."""
    moved = {p: f for p, f in notice.frontiers.items() if p in notice.failed or not f.is_top}
    return {
        "number": notice.number,
        "at": notice.at,
        "cause": notice.cause,
        "failed": list(notice.failed),
        "frontiers": {p: frontier_to_json(f) for p, f in moved.items()},
        "kept": len(notice.frontiers) - len(moved),
        "reasons": {p: found for p in moved if (found := reasons(notice.reasons.get(p, ())))},
        "undone": dict(notice.undone),
        "seconds": notice.seconds,
        "caught_up": None,
        "rows": None,
    }


def reasons(violations: Iterable[Violation]) -> list[dict[str, Any]]:
    """The constraints that forced a processor."""
    return [
        {
            "constraint": each.constraint,
            "edge": each.edge,
            "because": each.because,
            "wanted": None if each.wanted is None else frontier_to_json(each.wanted),
            "allowed": None if each.allowed is None else frontier_to_json(each.allowed),
        }
        for each in list(violations)[:REASONS_MAX]
    ]

"""What a batch holds, in whatever form is at hand: a plan, an Arrow table, cached blocks, a file.

Meaning never depends on the form. A content goes one way: from a plan to one settled content (small
or cached), and from there to a durable one. What is durable can be read back, so a lost block costs
a read and nothing else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import RLock
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.runtime.blocks import Cached
from falkirk.store.reference import Piece, Reference

STEPS_MAX = 100
"""Of a longer plan the rows are fixed every so many steps: Spark takes the longer for each step the
more there are before it, and many hundreds fill its stack."""


class PlanError(Exception):
    """A function that extends a plan raised an exception; ``processor`` is whose function it is."""

    def __init__(self, processor: str, error: Exception) -> None:
        """``error`` is what was raised."""
        super().__init__(f"{type(error).__name__}: {error}")
        self.processor, self.error = processor, error


@dataclass(frozen=True, slots=True)
class Step:
    """A plan that extends another one by ``function``. Spark hears of it when it is evaluated.

    So a chain of stateless processors costs nothing until somebody needs its rows, and then one
    thread that waits for Spark anyway builds the whole plan.
    """

    before: "Content"
    function: Callable[[Any], Any]
    processor: str

    def build(self, frame: Any) -> Any:
        """Applies the function."""
        try:
            return self.function(frame)
        except Exception as error:
            raise PlanError(self.processor, error) from error


@dataclass(frozen=True, slots=True)
class Several:
    """A plan over several contents; like a step, it is built from what they are by then."""

    befores: tuple["Content", ...]
    function: Callable[[list[Any]], Any]


class Content:
    """The rows of one batch. ``hint`` bounds their size in bytes while they are a plan.

    A plan is a step beyond another content, or over several, or a DataFrame; then ``needs`` are
    the cached blocks that it may read, which are not to go before it. ``piece`` says which piece of
    a divided trace the rows are.
    """

    __slots__ = (
        "_steps",
        "cached",
        "held_bytes",
        "hint",
        "lock",
        "needs",
        "piece",
        "plan",
        "reference",
        "rows",
        "small_frame",
        "table",
    )

    def __init__(
        self,
        *,
        plan: Any = None,
        table: pa.Table | None = None,
        reference: Reference | None = None,
        hint: int | None = None,
        needs: tuple[Cached, ...] = (),
    ) -> None:
        """A content in one form."""
        self.lock = RLock()
        self.plan = plan
        self._steps = 0
        self.table = table
        self.needs = needs
        self.cached: Cached | None = None
        self.reference = reference
        self.small_frame: Any = None
        self.held_bytes: int | None = None
        self.rows: int | None = None
        self.piece: Piece | None = None
        if table is not None:
            self.rows = table.num_rows
        elif reference is not None:
            self.rows, self.piece = reference.rows, reference.piece
        self.hint = hint
        if befores := self.befores:
            self._steps = 1 + max(before.steps for before in befores)

    @property
    def settled(self) -> bool:
        """Whether the rows are fixed: evaluating again cannot change them."""
        return self.table is not None or self.cached is not None or self.reference is not None

    @property
    def volatile(self) -> bool:
        """Whether the rows live on executors alone, and go when one of them goes."""
        return self.cached is not None and self.table is None and self.reference is None

    @property
    def lost(self) -> bool:
        """Whether the rows were on a lost executor, or follow from such rows, and are not kept."""
        return any(each.lost_itself for each in self.walk())

    @property
    def lost_itself(self) -> bool:
        """The same, but for what a plan is built on."""
        missed = any(cached.lost for cached in self.reads_itself)
        return missed and (self.volatile or not self.settled)

    @property
    def exposed(self) -> bool:
        """Whether the rows would go with some executor: cached there, or a plan over such rows."""
        return any(each.volatile or each.needs for each in self.walk())

    @property
    def steps(self) -> int:
        """How many steps of a plan lie between settled rows and these, at most."""
        return 0 if self.settled else self._steps

    @property
    def cuts(self) -> list["Content"]:
        """What is to be settled before this plan is built, so that no plan is long; nearest first.

        A plan has one use, so nobody else needs these rows.
        """
        if self.steps <= STEPS_MAX:
            return []
        found = [each for each in self.walk() if each is not self]
        cuts = [each for each in found if each.steps and not each.steps % STEPS_MAX]
        return sorted(cuts, key=lambda each: each.steps)

    def walk(self) -> Iterator["Content"]:
        """This content and those that its plan is built on, as far as settled rows."""
        left = [self]
        while left:
            content = left.pop()
            yield content
            if not content.settled:
                left.extend(content.befores)

    @property
    def befores(self) -> tuple["Content", ...]:
        """The contents that this plan is built on."""
        plan = self.plan  # it may be evaluated meanwhile, and gone
        if isinstance(plan, Step):
            return (plan.before,)
        return plan.befores if isinstance(plan, Several) else ()

    @property
    def reads(self) -> tuple[Cached, ...]:
        """The cached blocks that a frame of this content reads."""
        return tuple(cached for each in self.walk() for cached in each.reads_itself)

    @property
    def reads_itself(self) -> tuple[Cached, ...]:
        """The same, without what the plan is built on."""
        cached = self.cached
        return (cached,) if cached is not None else self.needs

    @property
    def size(self) -> int | None:
        """How many bytes there are, or may be at most; None if nobody knows."""
        if self.table is not None:
            if self.held_bytes is None:  # Arrow adds up all chunks, each time it is asked
                self.held_bytes = int(self.table.nbytes)
            return self.held_bytes
        return self.reference.size if self.reference is not None else self.hint

    @property
    def through(self) -> tuple[str, ...]:
        """The processors whose steps are fused into this plan, oldest first."""
        names: list[str] = []
        plan = self.plan
        while isinstance(plan, Step):
            names.append(plan.processor)
            plan = plan.before.plan
        return tuple(reversed(names))

    @property
    def origin(self) -> "Content":
        """Where the steps of this plan begin."""
        found = self
        while isinstance(found.plan, Step):
            found = found.plan.before
        return found

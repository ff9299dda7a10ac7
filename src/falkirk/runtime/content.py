"""What a batch holds, in whatever form is at hand: a plan, an Arrow table, cached blocks, a file.

Meaning never depends on the form. A content goes one way: from a plan to one settled content (small
or cached), and from there to a durable one. What is durable can be read back, so a lost block costs
a read and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.runtime.blocks import Cached
from falkirk.store.reference import Piece, Reference


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
        if self.table is not None or self.reference is not None:
            return False
        cached = self.cached
        if cached is not None:
            return cached.lost
        return any(before.lost for before in self.befores) or any(
            cached.lost for cached in self.needs
        )

    @property
    def exposed(self) -> bool:
        """Whether the rows would go with some executor: cached there, or a plan over such rows."""
        if self.settled:
            return self.volatile
        return bool(self.needs) or any(before.exposed for before in self.befores)

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
        cached = self.cached
        if cached is not None:
            return (cached,)
        return self.needs + tuple(cached for before in self.befores for cached in before.reads)

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

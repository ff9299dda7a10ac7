"""Collections: multisets of rows that change over time, and what can be made of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from falkirk.core.policy import Policy, ephemeral
from falkirk.dataflow.arguments import columns, expressions, function_of
from falkirk.dataflow.batch import Frame
from falkirk.dataflow.location import refusal, user_location
from falkirk.dataflow.meeting import operate
from falkirk.dataflow.operators.forward import Forward
from falkirk.dataflow.operators.plan import Transform
from falkirk.dataflow.stream import Stream
from falkirk.differential import loop as loops
from falkirk.differential.delay import Delay
from falkirk.differential.groups import Groups
from falkirk.differential.join import Join
from falkirk.differential.linear import Negate, Rename, flattened, mapping, weighted
from falkirk.differential.loop import ROUNDS_MAX, Rounds
from falkirk.differential.reduce import Reduce
from falkirk.differential.reducers import Once, Weights
from falkirk.differential.versions import Versions
from falkirk.differential.weights import WEIGHT, quoted
from falkirk.differential.whole import Consolidate


@dataclass(frozen=True, slots=True, repr=False)
class Collection:
    """A multiset of rows that changes: its stream has, at each time, the rows that come and go.

    Every method that makes a collection takes ``name=``, and ``policy=`` if it keeps state. What
    stands outside a loop may be used inside; it is the same in every round.
    """

    stream: Stream

    # Row by row.

    def map(self, *columns: str, name: str | None = None) -> "Collection":
        """The given SQL expressions of each row."""
        chosen = expressions(columns, "map")
        return self._operate(mapping(chosen), (), "map", name)

    def filter(self, condition: str, *, name: str | None = None) -> "Collection":
        """The rows for which an SQL condition holds."""
        (chosen,) = expressions((condition,), "filter")
        return self._operate(Transform(lambda frame: frame.where(chosen)), (), "filter", name)

    def flat_map(
        self, function: Callable[[Frame], Frame], *, name: str | None = None
    ) -> "Collection":
        """What ``function`` makes of frames of rows, row by row: any number of rows of each.

        The frame has a further column, ``_weight``, which has to be kept as it is.
        """
        function_of(function, "flat_map")
        return self._operate(Transform(flattened(function)), (), "flat_map", name)

    def concat(self, *others: "Collection", name: str | None = None) -> "Collection":
        """All rows of all collections; a row that is in two is there twice."""
        if not others:
            raise refusal("concat needs another collection")
        return self._operate(Forward(), others, "concat", name)

    def negate(self, *, name: str | None = None) -> "Collection":
        """The same rows, each as often taken away as it was there: for use with ``concat``."""
        return self._operate(Negate(), (), "negate", name)

    def consolidate(self, *, name: str | None = None, policy: Policy | None = None) -> "Collection":
        """The same rows; at each time they come in one batch, and none is both added and gone."""
        return self._operate(Consolidate(), (), "consolidate", name, policy)

    # Two collections.

    def join(
        self,
        other: "Collection",
        on: str | Iterable[str],
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Collection":
        """The pairs of rows that agree on the columns ``on``: those, then all others."""
        made = Join(columns(on, "join"))
        return self._operate(made, (other,), "join", name, policy)

    def semijoin(
        self,
        other: "Collection",
        on: str | Iterable[str],
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Collection":
        """The rows that agree on the columns ``on`` with some row of ``other``."""
        chosen = columns(on, "semijoin")
        with self.stream.flow.attempt():
            keys = mapping([*map(quoted, chosen)])
            theirs = self._checked(other)._operate(keys, (), "semijoin-keys", None)
            known = theirs._operate(Reduce((), Once()), (), "semijoin-known", None, policy)
            return self._operate(Join(chosen), (known,), "semijoin", name, policy)

    def antijoin(
        self,
        other: "Collection",
        on: str | Iterable[str],
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Collection":
        """The rows that agree on the columns ``on`` with no row of ``other``."""
        with self.stream.flow.attempt():
            found = self.semijoin(other, columns(on, "antijoin"), policy=policy)
            return self._operate(Forward(), (found.negate(),), "antijoin", name)

    # Groups.

    def distinct(self, *, name: str | None = None, policy: Policy | None = None) -> "Collection":
        """Each row once, however often it is there."""
        return self._operate(Reduce((), Once()), (), "distinct", name, policy)

    def threshold(
        self,
        function: Callable[[int], int],
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Collection":
        """Each row as often as ``function`` says, given how often it is there."""
        function_of(function, "threshold")
        return self._operate(Reduce((), Weights(function)), (), "threshold", name, policy)

    def group_by(self, *keys: str) -> "Groups":
        """Groups of rows that agree on the columns ``keys``."""
        if not keys:
            raise refusal(
                "group_by needs a column: for one group of all rows, add one that is the same in"
                " all, such as map('*', '0 AS every').group_by('every')"
            )
        return Groups(self, columns(keys, "group_by"))

    # Loops.

    def iterate(
        self,
        body: Callable[["Collection"], "Collection"],
        *,
        rounds: int | None = None,
        rounds_max: int = ROUNDS_MAX,
        name: str | None = None,
    ) -> "Collection":
        """What this collection becomes when ``body`` is applied until nothing changes.

        ``rounds`` bounds how often. A loop that still changes after ``rounds_max`` rounds is an
        error, which costs no data.
        """
        function_of(body, "iterate")
        with self.loop(rounds=rounds, rounds_max=rounds_max, name=name) as loop:
            variable = loop.variable(self)
            result = body(variable.now)
            if not isinstance(result, Collection):
                raise refusal(f"the body of a loop returns a collection, not {result!r}")
            variable.set(result)
            return loop.leave(result)

    @contextmanager
    def loop(
        self, *, rounds: int | None = None, rounds_max: int = ROUNDS_MAX, name: str | None = None
    ) -> Iterator["Loop"]:
        """A loop with variables of your own: for what depends on one another."""
        with loops.open_loop(self.stream, name, Rounds(rounds, rounds_max)) as opened:
            yield Loop(opened)

    def delayed(
        self, column: str, *, name: str | None = None, policy: Policy | None = None
    ) -> "Collection":
        """Inside a loop: each row comes in the round that ``column`` says, which is dropped.

        It never changes where a loop ends that has one end only, but how long that takes.
        """
        (chosen,) = columns(column, "delayed")
        if self.stream.loop is None:
            raise refusal(
                f"{self.stream.name!r} is not inside a loop: delayed says in which round rows come"
            )
        return self._operate(Delay(chosen), (), "delayed", name, policy)

    # The way out.

    def changes(self, column: str = "change", *, name: str | None = None) -> Stream:
        """A stream of what comes and goes at each time: ``column`` says how many of a row.

        One that is negative says how many are gone.
        """
        (chosen,) = columns(column, "changes")
        with self.stream.flow.attempt():
            return self.consolidate()._operate(Rename(chosen), (), "changes", name).stream

    def versions(self, *, name: str | None = None, policy: Policy | None = None) -> Stream:
        """A stream of all rows of the collection, whole, at each time at which it changes.

        So it can be what ``join_latest`` joins with. A version costs as much as there are rows.
        """
        return self._operate(Versions(), (), "versions", name, policy).stream

    def _operate(
        self,
        operator: Any,
        others: "tuple[Collection, ...]",
        stem: str,
        name: str | None,
        policy: Policy | None = None,
    ) -> "Collection":
        streams = (self.stream, *(self._checked(other).stream for other in others))
        region = self.stream.flow.region
        if (
            policy is None
            and operator.stateless
            and region
            and not (region.stateless or region.tainted)
        ):
            policy = ephemeral()  # a region is for those who have something to save
        return Collection(operate(operator, streams, stem, name, policy))

    def _checked(self, other: object) -> "Collection":
        if not isinstance(other, Collection):
            raise refusal(f"a collection is needed, not {other!r}: collection(stream) makes one")
        return other

    def __repr__(self) -> str:
        return f"Collection({self.stream.name!r} of {self.stream.flow.name!r})"


def collection(stream: Stream, change: str | None = None, *, name: str | None = None) -> Collection:
    """The collection of all rows that have come; ``change`` says how many of a row come or go.

    Without it every row comes once and stays.
    """
    if not isinstance(stream, Stream):
        raise refusal(f"a collection is made of a stream, not of {stream!r}")
    if change is None:
        return Collection(stream.select("*", f"CAST(1 AS BIGINT) AS {WEIGHT}", name=name))
    (column,) = columns(change, "collection")

    called = name or f"{stream.name}-changes"
    return Collection(stream.transform(weighted(column, user_location()), name=called))


@dataclass(frozen=True, slots=True)
class Variable:
    """A collection inside a loop that is another one in the next round."""

    now: Collection
    inner: loops.Variable

    def set(self, following: Collection) -> None:
        """Says what it is in the next round."""
        if self.inner.next is not None:
            raise refusal(f"the variable {self.inner.name!r} is set twice")
        if following.stream.loop is not self.now.stream.loop:
            raise refusal(
                f"{following.stream.name!r} is not inside the loop of {self.inner.name!r}: derive"
                " it from a variable of the loop"
            )
        self.inner.next = following.stream


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop while it is written."""

    inner: loops.Loop

    def enter(self, collection: Collection) -> Collection:
        """A collection from outside, inside this loop: the same in every round."""
        return Collection(self.inner.enter(collection.stream))

    def variable(self, seed: Collection | None = None, *, name: str | None = None) -> Variable:
        """A variable that is ``seed`` in the first round, or empty."""
        made = self.inner.variable(seed.stream if seed is not None else None, name)
        return Variable(Collection(made.now), made)

    def leave(self, collection: Collection) -> Collection:
        """What a collection of this loop is when the loop has ended."""
        if collection.stream.loop is not self.inner.place:
            raise refusal(f"{collection.stream.name!r} is not inside this loop")
        return Collection(self.inner.out(collection.stream))

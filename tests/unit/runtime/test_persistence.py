"""What the store is told, in which order, and how many transactions that takes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from queue import Queue
from threading import Event
from typing import Any

import pyarrow as pa
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import EPOCH
from falkirk.core.errors import StoreOutageError
from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.record import Record
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.runtime import tidying
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import LostBlocksError
from falkirk.runtime.content import Content
from falkirk.runtime.line import BETWEEN_MAX, GATHER_MAX, waited_for
from falkirk.runtime.patience import Patience
from falkirk.runtime.persistence import Persistence
from falkirk.store import LeaseLostError

A, B, OUT = ProcessorId("a"), ProcessorId("b"), ProcessorId("out")
EDGE = EdgeId("b>out")


class Told:
    """A store that remembers its transactions; it waits in the first one until it may go on."""

    def __init__(self) -> None:
        self.transactions: list[list[Any]] = []
        self.begun, self.go_on = Event(), Event()

    def transact(self, effects: Sequence[Any], captures: Any = None) -> None:
        """Remembers them."""
        self.begun.set()
        assert self.go_on.wait(10)
        self.transactions.append(list(effects))


def upto(epoch: int) -> Any:
    return EPOCH.frontier([(epoch,)])


def persist(p: ProcessorId, epoch: int = 0) -> Persist:
    before = upto(epoch - 1) if epoch else EPOCH.empty
    return Persist(epoch, p, 0, Checkpoint(upto(epoch), upto(epoch)), before, (), False)


def collect(p: ProcessorId, epoch: int = 0) -> Collect:
    return Collect(p, upto(epoch), ((epoch,),), ())


def told(
    *effects: Any,
    then: Callable[[Persistence], None] = lambda _: None,
    **settings: Any,
) -> list[list[Any]]:
    """The transactions after a first one, during which all ``effects`` are queued."""

    def broken(error: Exception) -> None:
        raise AssertionError from error

    store = Told()
    persistence = Persistence(
        store,
        None,  # type: ignore[arg-type]
        lambda _: None,
        broken,
        broken,
        **settings,
    )
    persistence.submit(persist(A))
    assert store.begun.wait(10)
    for effect in effects:
        persistence.submit(effect)
    then(persistence)
    store.go_on.set()
    persistence.close()
    assert persistence.unfinished == persistence.waiting == 0
    return store.transactions[1:]


def test_checkpoints_do_not_wait_for_collection() -> None:
    found = told(collect(A), persist(B), CollectLog(EDGE, upto(0)), persist(OUT))
    assert found == [[persist(B), persist(OUT)], [collect(A), CollectLog(EDGE, upto(0))]]


def test_collection_of_several_times_is_one_effect() -> None:
    [[found, log]] = told(
        collect(B, 1), CollectLog(EDGE, upto(1)), collect(B, 2), CollectLog(EDGE, upto(2))
    )
    assert found == Collect(B, upto(2), ((1,), (2,)), ())
    assert log == CollectLog(EDGE, upto(2))


def test_a_retraction_comes_after_what_was_asked_for_before() -> None:
    retract = Retract({B: upto(0)}, {B: 1})
    found = told(persist(B), collect(B), retract, persist(B, 1))
    assert found == [[persist(B)], [collect(B)], [retract, persist(B, 1)]]


def test_who_asks_finds_everything_durable() -> None:
    left: list[int] = []
    told(
        collect(A),
        persist(B),
        then=lambda persistence: persistence.ask(lambda: left.append(persistence.unfinished)),
    )
    assert left == [0]


def test_collection_that_is_put_off_does_not_hold_back_inputs() -> None:
    waiting: list[int] = []
    told(collect(A), collect(B), then=lambda persistence: waiting.append(persistence.waiting))
    assert waiting == [1], "only the checkpoint that is being written"


def test_collection_happens_when_nothing_else_does() -> None:
    store = Told()
    store.go_on.set()
    persistence = Persistence(store, None, print, print, print)  # type: ignore[arg-type]
    try:
        persistence.submit(collect(A))
        assert store.begun.wait(10)
    finally:
        persistence.close()
    assert store.transactions == [[collect(A)]]


def test_much_collection_is_not_put_off() -> None:
    later = tidying.PutOff()
    for epoch in range(tidying.PUT_OFF_MAX):
        assert not later.due
        later.put(collect(A, epoch))
    assert later.due
    assert len(later.take()) == 1
    assert not later.due


def test_it_is_told_what_was_collected() -> None:
    store, tidied = Told(), Queue[int]()
    store.go_on.set()
    persistence = Persistence(
        store,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        print,
        print,
        print,
        tidied=lambda collections, _: tidied.put(collections),
    )
    persistence.submit(collect(A))
    persistence.submit(collect(B))
    persistence.close()
    assert sum(tidied.get_nowait() for _ in range(tidied.qsize())) == 2


def test_those_for_whom_somebody_waits_go_first_and_others_in_small_groups() -> None:
    others = [persist(A, n) for n in range(1, BETWEEN_MAX + 3)]
    waited_for = [persist(B, 0), persist(B, 1)]
    first, *rest = told(*others, *waited_for, urgent=frozenset([B]))
    assert first == waited_for
    assert rest == [others[:BETWEEN_MAX], others[BETWEEN_MAX:]]


def test_nobody_overtakes_a_retraction() -> None:
    retract = Retract({A: upto(0)}, {A: 1})
    found = told(persist(A, 1), retract, persist(A, 1), persist(B), urgent=frozenset([B]))
    assert found == [[persist(A, 1)], [retract, persist(B)], [persist(A, 1)]]


def test_where_somebody_may_be_in_a_hurry_collection_goes_in_small_steps() -> None:
    many = [collect(ProcessorId(f"p{n}")) for n in range(tidying.PUT_OFF_MAX + 1)]
    found = told(*many, persist(A, 1), urgent=frozenset([B]))
    assert found[0] == [persist(A, 1)]
    assert found[1] == many[:BETWEEN_MAX]
    assert [effect for group in found[1:] for effect in group] == many


def test_nothing_is_written_behind_what_could_not_be() -> None:
    """A store that comes back too late must not have a gap."""
    store, found = Told(), list[str]()
    store.go_on.set()

    def failing(effects: Sequence[Any], captures: Any = None) -> None:
        if any(effect.processor == A for effect in effects):
            raise LeaseLostError("gone")
        Told.transact(store, effects)

    store.transact = failing  # type: ignore[method-assign]
    persistence = Persistence(
        store,
        None,  # type: ignore[arg-type]
        lambda _: None,
        lambda *_: None,
        lambda error: found.append(str(error)),
    )
    persistence.submit(persist(A))
    persistence.submit(persist(B))
    persistence.ask(lambda: found.append("asked"))
    persistence.close()
    assert [error for error in found if "gone" in error] == found
    assert len(found) == 1
    assert not store.transactions


class Writing:
    """What is asked to write a batch, and cannot."""

    def __init__(self, error: Exception) -> None:
        self.error, self.asked = error, 0

    def persist(self, content: Content) -> None:
        """Fails."""
        self.asked += 1
        raise self.error

    def find_lost(self, content: Content) -> bool:
        """Its rows are gone."""
        return True


def unwritten(error: Exception) -> tuple[Writing, list[str], list[Exception]]:
    """Has a batch written that cannot be: who was asked, who has lost it, and what broke."""
    store, writing = Told(), Writing(error)
    store.go_on.set()
    lost, broken = list[str](), list[Exception]()
    persistence = Persistence(
        store,
        writing,  # type: ignore[arg-type]
        lambda _: None,
        lambda effect, _: lost.append(effect.processor),
        broken.append,
        patience=Patience(attempts=3, first_seconds=0.0),
    )
    batch = Batch(Content(table=pa.table({"n": [1]})), writing)  # type: ignore[arg-type]
    persistence.submit(replace(persist(A), records=(Record((0,), state=[batch]),)))
    persistence.close()
    return writing, lost, broken


def test_a_batch_that_cannot_be_written_is_tried_again_and_then_stops_the_flow() -> None:
    """Who would roll back for it would write the same batch again, for ever."""
    writing, lost, broken = unwritten(RuntimeError("Spark: no space left on device"))
    assert writing.asked > 2
    assert not lost
    (error,) = broken
    assert isinstance(error, StoreOutageError)
    assert "no space left" in str(error)


def test_a_batch_whose_rows_are_gone_is_lost_at_once() -> None:
    writing, lost, broken = unwritten(LostBlocksError("gone"))
    assert (writing.asked, lost, broken) == (1, [A], [])


HOURS = 3600.0


def test_where_nobody_waits_checkpoints_come_together() -> None:
    store = Told()
    persistence = Persistence(
        store,
        None,  # type: ignore[arg-type]
        lambda _: None,
        print,
        print,
        gather_seconds=HOURS,
    )
    persistence.submit(persist(A))
    assert store.begun.wait(10), "one that comes alone is written at once"
    store.go_on.set()
    asked = Event()
    for epoch in range(1, GATHER_MAX + 1):
        persistence.submit(persist(A, epoch))
    while len(store.transactions) < 2:  # enough of them do not wait for the hour to pass
        asked.wait(0.01)
    persistence.submit(persist(B))
    persistence.ask(asked.set)
    assert asked.wait(10), "nor does one who asks"
    persistence.submit(persist(B, 1))
    retract = Retract({B: upto(0)}, {B: 1})
    persistence.submit(retract)
    persistence.submit(persist(B, 1))
    persistence.close()
    first, second, *rest = store.transactions
    assert (len(first), len(second)) == (1, GATHER_MAX)
    assert rest[:2] == [[persist(B)], [persist(B, 1)]]
    assert [effect for group in rest[2:] for effect in group] == [retract, persist(B, 1)]


def test_where_somebody_waits_nothing_is_gathered() -> None:
    """With an hour between groups this would not end."""
    found = told(persist(A, 1), persist(B), urgent=frozenset([B]), gather_seconds=HOURS)
    assert [persist(B)] in found


def flow_with(count: fk.Policy, exactly_once: bool) -> Any:
    flow = fk.Dataflow("gathered")
    read = flow.read(Source(), name="in")
    read.group_by("a").count(name="n", policy=count).write(Sink(exactly_once), name="out")
    return flow.build().flow


def test_somebody_waits_behind_eager_processors_and_before_staged_outputs() -> None:
    assert not waited_for(flow_with(fk.lazy(), exactly_once=False))
    assert waited_for(flow_with(fk.eager(), exactly_once=False))
    assert waited_for(flow_with(fk.lazy(), exactly_once=True))

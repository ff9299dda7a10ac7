"""Who owns a content that is lost, what follows from a lost one, and how a loss is noticed."""

from queue import SimpleQueue
from threading import Event
from typing import Any, cast

import pyarrow as pa
import pytest
from tests.unit.runtime.test_blocks import FakeGateway, Frame

import falkirk as fk
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Close, Finish, Ingest, Result
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import Blocks, Cached
from falkirk.runtime.content import Content, Several, Step
from falkirk.runtime.losses import Watch, owners
from falkirk.store.reference import Reference
from falkirk.testing.script import Remembered, Script

SECONDS_MAX = 10.0
DURABLE = Reference("batch-1", "folder", 1, 1, "sum")


def on_executors(lost: bool = True) -> Content:
    """A content that only executors hold, or held."""
    content = Content()
    content.cached = Cached(None, None)
    content.cached.lost = lost
    return content


def batch(content: Content) -> Batch:
    """A batch that nobody will evaluate."""
    return Batch(content, cast(Any, None))


def machine(source: fk.Policy, middle: fk.Policy) -> Machine:
    """A flow of three."""
    flow = fk.Dataflow("three")
    numbers = flow.read(Script([[{"n": 1}]]), name="source", policy=source)
    numbers.process(fk.Processor(), name="middle", policy=middle).write(Remembered(), name="sink")
    return Machine(flow.build().flow)


def lost(found: Machine) -> set[str]:
    """The owners of what is lost."""
    return set(owners(found, lambda content: content.lost))


def test_a_queue_belongs_to_its_receiver() -> None:
    found = machine(fk.lazy(), fk.lazy())
    found.step(Ingest("source", batch(on_executors()), 1))
    assert lost(found) == {"middle"}


def test_a_log_belongs_to_its_sender() -> None:
    found = machine(fk.batch(), fk.lazy())
    found.step(Ingest("source", batch(on_executors()), 1))
    assert lost(found) == {"source", "middle"}


def test_what_waits_for_durability_belongs_to_its_sender() -> None:
    found = machine(fk.eager(), fk.lazy())
    found.step(Ingest("source", batch(on_executors()), 1))
    assert lost(found) == {"source"}


def test_state_belongs_to_its_processor_and_work_in_progress_to_nobody() -> None:
    found = machine(fk.lazy(), fk.lazy())
    found.step(Ingest("source", batch(on_executors()), 1))
    work = found.begin(found.enabled()[0])
    assert not lost(found)
    found.step(Finish(work, Result(state=(batch(on_executors()),))))
    assert lost(found) == {"middle"}


def test_a_history_belongs_to_its_processor() -> None:
    found = machine(fk.lazy(), fk.history())
    found.step(Ingest("source", batch(on_executors()), 1))
    found.step(Finish(found.begin(found.enabled()[0]), Result()))
    found.step(Close("source"))
    assert lost(found) == {"middle"}


def test_what_is_kept_elsewhere_is_not_lost() -> None:
    small, durable = on_executors(), on_executors()
    small.table, durable.reference = pa.table({"n": [1]}), DURABLE
    assert not small.lost
    assert not durable.lost
    assert not small.exposed
    assert not durable.exposed


def test_a_plan_over_lost_rows_is_lost() -> None:
    gone, there = on_executors(), on_executors(lost=False)
    assert gone.cached is not None
    plans = [
        Content(plan=Step(gone, lambda frame: frame, "p")),
        Content(plan=Step(Content(plan=Step(gone, lambda frame: frame, "p")), lambda f: f, "q")),
        Content(plan=Several((there, gone), lambda frames: frames[0])),
        Content(plan="a frame", needs=(gone.cached,)),
    ]
    assert [plan.lost for plan in plans] == [True] * 4


def test_a_step_beyond_rows_that_became_durable_is_not_lost_but_a_frame_over_them_is() -> None:
    """A step is built from what is there by then; a frame reads the blocks that it was made of."""
    before = on_executors()
    assert before.cached is not None
    before.reference = DURABLE
    assert not Content(plan=Step(before, lambda frame: frame, "p")).lost
    assert Content(plan="a frame", needs=(before.cached,)).lost


def test_a_plan_over_rows_on_executors_is_exposed_and_others_are_not() -> None:
    there = on_executors(lost=False)
    assert Content(plan=Step(there, lambda frame: frame, "p")).exposed
    assert not Content(plan="a frame").exposed


@pytest.fixture
def gateway() -> FakeGateway:
    """Two executors."""
    return FakeGateway()


def test_a_lost_executor_is_noticed_and_blocks_are_looked_at(gateway: FakeGateway) -> None:
    blocks = Blocks(cast(Any, gateway))
    cached = blocks.cache(Frame(1))
    gone, looked = Event(), Event()
    watch = Watch(blocks, gone.set, lambda error: looked.set())
    try:
        gateway.addresses.remove("one")
        gateway.gone.add(1)
        assert gone.wait(SECONDS_MAX)
        watch.look()
        assert looked.wait(SECONDS_MAX)
    finally:
        watch.close()
    assert cached.lost


def test_a_new_executor_is_no_loss_and_is_told(gateway: FakeGateway) -> None:
    gone, looked, came = Event(), Event(), SimpleQueue[int]()
    watch = Watch(Blocks(cast(Any, gateway)), gone.set, lambda error: looked.set(), came.put)
    try:
        watch.look()
        assert looked.wait(SECONDS_MAX)
        assert came.empty(), "those that were there are not new"
        gateway.addresses.add("three")
        assert came.get(timeout=SECONDS_MAX) == 3
    finally:
        watch.close()
    assert came.empty(), "it is new once"
    assert not gone.is_set()

"""One thread writes while others read, write files and collect garbage."""

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier, Event

from tests.contracts.store.places import FLOW, B, C, Durable, Place, persist, stored, upto
from tests.contracts.store.test_batches import TABLE

from falkirk.core.machine.events import Retract
from falkirk.core.machine.ledger import Record
from falkirk.store import Reference

EPOCHS = 30


def test_readers_always_see_whole_transactions(place: Place) -> None:
    store, done = place.started(), Event()
    halfway = Barrier(3, timeout=60)

    def write() -> None:
        try:
            for i in range(EPOCHS):
                if i == EPOCHS // 2:
                    halfway.wait()  # for both readers to have looked
                state = [Durable(store.files.write(TABLE))]
                records = [Record((2 * i,), state=state), Record((2 * i + 1,), state=state)]
                store.transact([persist("b", 2 * i + 1, records, previous=2 * i - 1)])
        finally:
            done.set()

    def read() -> int:
        looks = 0
        while not done.is_set():
            found = stored(store, "b")
            assert len(found.ledger.records) == 2 * len(found.checkpoints)
            for record in list(found.ledger.records.values())[-2:]:
                assert store.files.read(record.state[0].reference).equals(TABLE)
            assert store.damages == ()
            looks += 1
            if looks == 1:
                halfway.wait()
        return looks

    def clean() -> None:
        while not done.is_set():
            assert store.collect_garbage().files == 0
            done.wait(0.01)

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(write), pool.submit(read), pool.submit(read), pool.submit(clean)]
        for job in jobs:
            job.result()
    assert min(jobs[1].result(), jobs[2].result()) > 0
    assert stored(store, "b", verify=True).checkpoints[-1].frontier == upto(2 * EPOCHS - 1)


def test_no_file_goes_while_it_is_being_loaded(place: Place) -> None:
    """Who loads has read rows whose files a commit in between would delete."""
    store = place.started()
    for p in ("b", "c"):
        state = [Durable(store.files.write(TABLE))]
        store.transact([persist(p, 0, [Record((0,), state=state)])])
    del state
    retraction = Retract({C: upto(-1)}, {C: 1})
    with ThreadPoolExecutor(1) as pool:
        jobs = []

        def revive(reference: Reference, label: str) -> Durable:
            if not jobs:
                jobs.append(pool.submit(store.transact, [retraction]))
                wait(jobs, timeout=0.2)
            return Durable(reference, label)

        found = store.load(FLOW, revive, [B, C])
        jobs[0].result()
    assert store.damages == ()
    for p in (B, C):
        (batch,) = found[p].ledger.records[(0,)].state
        assert store.files.read(batch.reference).equals(TABLE)
    assert stored(store, "c").checkpoints == ()

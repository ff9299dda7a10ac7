"""A process that writes to a store until it is killed; it prints what it knows to be durable."""

import sys
from itertools import count

import pyarrow as pa
from tests.contracts.store.places import FLOW, A, Durable, persist, upto

from falkirk.core.machine.events import Collect
from falkirk.core.machine.ledger import Record
from falkirk.core.machine.message import Message
from falkirk.core.times import EdgeId
from falkirk.store import open_store


def table(epoch: int) -> pa.Table:
    """The batch of one epoch."""
    return pa.table({"epoch": [epoch] * 10})


def main(address: str) -> None:
    """Stores one epoch after the other; every fourth time, what is old is folded."""
    store = open_store(address)
    store.acquire()
    found = store.load(FLOW, Durable)[A]
    first = max((time[0] for time in found.ledger.records), default=-1) + 1
    base = list(found.ledger.base.state)
    del found
    for epoch in count(first):
        state, sent = (Durable(store.files.write(table(epoch))) for _ in range(2))
        message = Message(epoch, EdgeId("e"), (epoch,), (epoch,), sent)
        record = Record((epoch,), state=[state], sent=[message])
        effects: list = [persist("a", epoch, [record])]
        if epoch % 4 == 3:
            kept = store.load(FLOW, Durable)[A].ledger.records
            old = sorted(time for time in kept if time[0] < epoch - 1)
            base += [(time, kept[time].state[0]) for time in old]
            # What was logged is folded with the record, so its file goes.
            effects.append(Collect(A, upto(epoch - 2), tuple(old), tuple(base)))
        store.transact(effects)
        print(epoch, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

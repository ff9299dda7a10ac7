"""The ends of an input's last epochs are remembered after they were folded, and no more of them."""

from tests.contracts.store.places import Place

from falkirk.core.machine.ledger import Record
from falkirk.core.times import ProcessorId
from falkirk.store.ends import KEPT, TIDY, ends_in, remember

FILES, MORE = ProcessorId("files"), ProcessorId("files:0")


def test_ends_are_remembered_by_input_and_the_newest_counts(lasting: Place) -> None:
    database = lasting.started().noticeboard.database
    with database.writing() as connection:
        remember(connection, FILES, [Record((n,), state=[{"json": [n, "a"]}]) for n in (3, 4)])
        remember(connection, FILES, [Record((4,), state=[{"json": None}]), Record((5,))])
        remember(connection, MORE, [Record((9,), state=[{"name": "x", "label": ""}])])
        assert ends_in(connection) == {FILES: {3: [3, "a"], 4: None}}


def test_old_ends_are_forgotten_and_nobody_elses(lasting: Place) -> None:
    database = lasting.started().noticeboard.database
    with database.writing() as connection:
        for p in (FILES, MORE):
            remember(connection, p, [Record((n,), state=[{"json": n}]) for n in range(KEPT)])
        for n in range(KEPT, KEPT + 2 * TIDY):
            remember(connection, FILES, [Record((n,), state=[{"json": n}])])
        found = ends_in(connection)
    assert KEPT <= len(found[FILES]) < KEPT + TIDY
    assert max(found[FILES]) == KEPT + 2 * TIDY - 1
    assert len(found[MORE]) == KEPT

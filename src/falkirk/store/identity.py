"""Which store this is: two stores of the same flow, even at the same place, are told apart."""

from uuid import uuid4

from sqlalchemy import insert, select

from falkirk.store import tables
from falkirk.store.database import Database


def identity_of(database: Database) -> str:
    """The identity of a store, given to it when it is first asked for."""
    facts = tables.facts
    wanted = select(facts.c.value).where(facts.c.name == "identity")
    with database.reading() as connection:
        known = connection.scalar(wanted)
    if known is not None:
        return str(known)
    with database.writing() as connection:
        known = connection.scalar(wanted)
        if known is None:
            known = uuid4().hex
            connection.execute(insert(facts), {"name": "identity", "value": known})
    return str(known)

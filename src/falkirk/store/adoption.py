"""The flow that a store belongs to: another one would misread what is stored."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from falkirk.core.errors import StoreError
from falkirk.store import tables
from falkirk.store.codec import text

ABOUT = "about"
"""The part of a description that may change: it is kept for those who look, and never compared."""


def adopt(connection: Connection, description: Mapping[str, Any], place: str) -> None:
    """Remembers ``description`` the first time; later refuses one that differs."""
    facts = tables.facts
    written = text({name: value for name, value in description.items() if name != ABOUT})
    known = connection.scalar(select(facts.c.value).where(facts.c.name == "flow"))
    if known is None:
        connection.execute(insert(facts), {"name": "flow", "value": written})
    elif known != written:
        listed = "".join(
            f"\n  - {line}" for line in differences(json.loads(known), json.loads(written))
        )
        raise StoreError(
            f"the store at {place} belongs to a flow that differs from this one:{listed}\n"
            "run the flow that wrote it, or choose a new place for this one"
        )
    if ABOUT in description:
        remember(connection, description[ABOUT], begun=known is not None)


def remember(connection: Connection, about: Mapping[str, Any], begun: bool) -> None:
    """Keeps what the newest run says about the flow.

    Once a run has had a monitor of its own it stays known: such a run releases by itself, and how
    far it came with that nobody else can tell.
    """
    facts = tables.facts
    known = connection.scalar(select(facts.c.value).where(facts.c.name == ABOUT))
    before = {"embedded": begun} if known is None else json.loads(known)
    embedded = bool(before["embedded"] or about.get("embedded", True))
    written = text({**about, "embedded": embedded})
    if known is None:
        connection.execute(insert(facts), {"name": ABOUT, "value": written})
    else:
        connection.execute(update(facts).where(facts.c.name == ABOUT).values(value=written))


def differences(known: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    """Every difference between two descriptions, in words.

    >>> list(differences({"processors": {"p": {"depth": 1}}}, {"processors": {"q": {}}}))
    ["processor 'p' was removed", "processor 'q' was added"]
    """
    for section in sorted({*known, *given}):
        one = {"processors": "processor", "edges": "edge"}.get(section, section)
        before, after = known.get(section, {}), given.get(section, {})
        if not isinstance(before, dict) or not isinstance(after, dict):
            if before != after:
                yield f"{section} changed from {text(before)} to {text(after)}"
            continue
        for name in sorted({*before, *after}):
            if name not in after:
                yield f"{one} {name!r} was removed"
            elif name not in before:
                yield f"{one} {name!r} was added"
            else:
                yield from _changes(f"{one} {name!r}", before[name], after[name])


def _changes(subject: str, before: Any, after: Any) -> Iterator[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield f"{subject} changed from {text(before)} to {text(after)}"
        return
    for field in sorted({*before, *after}):
        if before.get(field) != after.get(field):
            old = text(before[field]) if field in before else "nothing"
            new = text(after[field]) if field in after else "nothing"
            yield f"{subject}: {field} changed from {old} to {new}"

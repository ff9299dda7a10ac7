"""Promoting a shadow: it gets the place, the name and the outputs of the live store.

The live store is set aside, never deleted. What is done first can be done again: a promotion that
was interrupted is finished by the next one.
"""

from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from falkirk.core.errors import RecoveryError, StoreError
from falkirk.inspection.asking import somebody
from falkirk.inspection.look import Look, look, opened
from falkirk.inspection.shadow import ends
from falkirk.inspection.shadow.facts import (
    ASIDE,
    SHADOW,
    Shadow,
    drop_fact,
    fact,
    put_fact,
    shadow_of,
    write_shadow,
)
from falkirk.inspection.shadow.fencing import Fence
from falkirk.inspection.shadow.moving import clear, move
from falkirk.inspection.shadow.places import beside, folder_of
from falkirk.inspection.shadow.readiness import refuse_stranger, unready
from falkirk.inspection.shadow.restaging import (
    Restaged,
    Takeover,
    put_restaged,
    restaged,
    takeover,
)
from falkirk.store import audit
from falkirk.store.codec import parsed, text
from falkirk.store.rows import Rows
from falkirk.store.store import SqlStore

PROMOTING = "promoting"


@dataclass(frozen=True, slots=True)
class Promotion:
    """What a promotion does: the shadow comes to ``live``, and what is there goes to ``aside``."""

    flow: str
    live: str
    shadow: str
    aside: str
    outputs: tuple[Takeover, ...]


def plan_promotion(place: str, aside: str | None = None) -> Promotion:
    """What promoting the shadow at ``place`` would do; refuses where it is not ready."""
    folder_of(place)
    with ExitStack() as stack:
        own = stack.enter_context(opened(place))
        shadow = shadow_of(own)
        if shadow.state == PROMOTING:
            return unfinished(own, shadow, place)
        live = stack.enter_context(opened(shadow.live))
        refuse_stranger(live, shadow)
        seen, known = look(own), look(live)
        outputs = tuple(
            takeover(known, seen, output, shadow.kept[output.name]) for output in shadow.outputs
        )
        problems = list(unready(known, seen, own, shadow, outputs))
        if problems:
            raise RecoveryError(
                f"the shadow at {place} cannot replace {shadow.live} yet: " + "; ".join(problems)
            )
        return Promotion(seen.name, shadow.live, place, aside or new_name(shadow.live), outputs)


def promote(place: str, why: str, aside: str | None = None) -> Promotion:
    """Puts the shadow at ``place`` in the place of its live store."""
    planned = plan_promotion(place, aside)
    fence = Fence()
    with opened(place) as own:
        begun = shadow_of(own).state == PROMOTING
    if not begun and Path(planned.aside).exists():
        raise StoreError(f"there is something at {planned.aside} already: choose another name")
    try:
        if not begun:
            taken_over(planned, fence, why)
        move(planned.live, Path(place), Path(planned.aside))
        for each in (planned.live, planned.aside):
            settle(each, fence)
        clear(planned.live, Path(place))
    except BaseException:
        for each in (planned.live, place, planned.aside):
            with suppress(StoreError):
                let_go(each, fence)
        raise
    return planned


def taken_over(planned: Promotion, fence: Fence, why: str) -> None:
    """Hands the identity and the outputs of the live store to the shadow, which knows where to go.

    From the first transaction on sinks refuse the live store, for it is not the one they know.
    """
    with opened(planned.shadow) as own, opened(planned.live) as live:
        shadow = shadow_of(own)
        for store in (live, own):
            with store.database.writing() as connection:
                fence.take(connection, store.database)
        known, seen = look(live), look(own)
        made = [
            restaged(
                known,
                (live, own),
                seen,
                output,
                takeover(known, seen, output, shadow.kept[output.name]),
            )
            for output in shadow.outputs
        ]
        own.files.sync()
        identity = retire(live, planned, why)
        try:
            inherit(own, planned, seen, made, identity, why)
        except BaseException:
            restore(live, identity)
            raise


def retire(live: SqlStore, planned: Promotion, why: str) -> str | None:
    """The live store gives up its identity; what it was is remembered."""
    with live.database.writing() as connection:
        written = fact(connection, ASIDE)
        identity = parsed(written)["identity"] if written else fact(connection, "identity")
        note = {"identity": identity, "shadow": planned.shadow, "aside": planned.aside}
        put_fact(connection, ASIDE, text(note))
        put_fact(connection, "identity", uuid4().hex)
        now = live.database.now(connection)
        what = f"set aside as {planned.aside}, replaced by the shadow {planned.shadow}"
        audit.note(connection, entry(now, what, why))
    return None if identity is None else str(identity)


def restore(live: SqlStore, identity: str | None) -> None:
    """The live store is itself again."""
    with live.database.writing() as connection:
        drop_fact(connection, ASIDE)
        drop_fact(connection, "identity")
        if identity is not None:
            put_fact(connection, "identity", identity)
        now = live.database.now(connection)
        audit.note(connection, entry(now, "not set aside after all", "the promotion failed"))


def inherit(
    own: SqlStore,
    planned: Promotion,
    seen: Look,
    made: list[Restaged],
    identity: str | None,
    why: str,
) -> None:
    """The shadow gets outputs that go on where the live ones stopped, and is on its way."""
    shadow = replace(shadow_of(own), state=PROMOTING)
    with own.database.writing() as connection:
        rows = Rows(connection, own.files)
        for each in made:
            put_restaged(rows, seen, each)
        rows.settle()
        if identity is not None:
            put_fact(connection, "identity", identity)
        write_shadow(connection, shadow)
        put_fact(connection, PROMOTING, text(asdict(planned)))
        now = own.database.now(connection)
        what = f"promoted in the place of {planned.live}, which is now {planned.aside}"
        audit.note(connection, entry(now, what, why))


def settle(place: str, fence: Fence) -> None:
    """A store that was moved is an ordinary one."""
    with opened(place) as store, store.database.writing() as connection:
        fence.release(connection)
        if fact(connection, SHADOW) is not None:
            drop_fact(connection, SHADOW)
            drop_fact(connection, PROMOTING)
            ends.table.drop(connection, checkfirst=True)


def let_go(place: str, fence: Fence) -> None:
    """Nothing came of it."""
    with opened(place) as store, store.database.writing() as connection:
        fence.release(connection)


def unfinished(own: SqlStore, shadow: Shadow, place: str) -> Promotion:
    """The promotion that was begun."""
    with own.database.reading() as connection:
        written = fact(connection, PROMOTING)
    if written is None:
        raise StoreError(f"the shadow at {place} is damaged: it does not know where it was to go")
    given = parsed(written)
    outputs = tuple(Takeover(**each) for each in given["outputs"])
    return Promotion(**{**given, "shadow": place, "outputs": outputs})


def new_name(live: str) -> str:
    """A name for a store that is set aside."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return f"{beside(live)}.before-{stamp}"


def entry(now: float, what: str, why: str) -> dict[str, object]:
    """A line of the audit."""
    who = somebody()
    return {"at": now, "who": who, "what": what, "to": {}, "moved": {}, "why": why}

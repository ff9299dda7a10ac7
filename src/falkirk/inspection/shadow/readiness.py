"""Whether a shadow can take the place of its live store, and why not."""

from collections.abc import Iterator

from falkirk.core.errors import StoreError
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look
from falkirk.inspection.shadow import ends
from falkirk.inspection.shadow.comparing import ancestors
from falkirk.inspection.shadow.facts import ASIDE, Shadow, fact, identity_in
from falkirk.inspection.shadow.planning import OWN
from falkirk.inspection.shadow.restaging import Takeover
from falkirk.store.codec import parsed
from falkirk.store.store import SqlStore


def refuse_stranger(live: SqlStore, shadow: Shadow) -> None:
    """The store at the live place must be the one that was forked."""
    with live.database.reading() as connection:
        written = fact(connection, ASIDE)
    identity = parsed(written)["identity"] if written else identity_in(live)
    if identity != shadow.identity:
        raise StoreError(
            f"the store at {shadow.live} is not the one that this is a shadow of: it was replaced"
        )


def unready(
    live: Look, seen: Look, own: SqlStore, shadow: Shadow, outputs: tuple[Takeover, ...]
) -> Iterator[str]:
    """Why a shadow cannot take over now."""
    for known in (live, seen):
        if known.holder.state in ("live", "expired"):
            yield (
                f"the store at {known.place} is in use by process {known.holder.pid} on"
                f" {known.holder.host}: stop that process first"
            )
            return
    with own.database.reading() as connection:
        joined = {
            p: ends.read_ends(connection, ProcessorId(p))
            for p, how in shadow.inputs.items()
            if how != OWN
        }
    for output, found in zip(shadow.outputs, outputs, strict=True):
        p = ProcessorId(output.name)
        if output.own:
            yield f"the output {p!r} has a sink of its own, so nothing of it was recorded"
        if found.shown < 0:
            continue
        if ends.last_epoch(ends.low_watermark(live, p)) < shadow.kept[p]:
            yield f"the live flow was rolled back behind the fork, and with it the output {p!r}"
            continue
        if ends.last_epoch(seen.final(p)) < found.shown:
            yield (
                f"the output {p!r} has come to epoch {ends.last_epoch(seen.final(p))}, and the live"
                f" one has shown up to epoch {found.shown}: let the shadow catch up by `falkirk"
                " shadow start --once`"
            )
        yield from misaligned(seen, shadow, joined, p, found.shown)
    for p in live.flow.processors:
        gone = live.flow.processors[p].role.value == "output" and p not in seen.flow.processors
        staged = [t for t, r in live.stored[p].ledger.records.items() if r.state]
        if gone and any(t in live.final(p) for t in staged):
            yield (
                f"the output {p!r}, which the changed flow has not, has staged rows that nobody has"
                " seen: run the live flow until it has shown them"
            )


def misaligned(
    seen: Look, shadow: Shadow, joined: dict[str, list[ends.End]], p: ProcessorId, shown: int
) -> Iterator[str]:
    """Why the epochs of an output are not those of the live one at the last that was shown."""
    above = ancestors(seen, p)
    for name in sorted(above & set(shadow.inputs)):
        if shadow.inputs[name] == OWN:
            yield (
                f"the input {name!r} is another one than the live flow's, so nobody can tell which"
                f" of its rows the output {p!r} has shown"
            )
        elif any(end.first <= shown < end.epoch for end in joined[name]):
            yield (
                f"the output {p!r} was shown up to epoch {shown}, and the shadow does not know"
                f" where that ended in the input {name!r}: let the live flow show all that it has"
                " read, then let the shadow catch up"
            )
    inside = [
        e for e in seen.flow.graph.edges.values() if e.target in above and e.projection.recorded
    ]
    if inside:
        yield (
            f"the epochs of the output {p!r} are made inside the flow, by {inside[0].source!r}, so"
            " those of the shadow are others"
        )

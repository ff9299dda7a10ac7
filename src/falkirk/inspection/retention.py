"""What a store keeps, on whose account, and what nobody needs any more."""

from dataclasses import dataclass

from falkirk.core.times import EdgeId, ProcessorId
from falkirk.inspection.asking import somebody
from falkirk.inspection.causes import Causes
from falkirk.inspection.look import Look, Use
from falkirk.inspection.pins import lies_beyond
from falkirk.inspection.words import several, size, until
from falkirk.runtime.details import entry
from falkirk.store.noting import Note
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Kept:
    """Files that one processor keeps for one purpose; ``because`` says who is the reason."""

    processor: str
    what: str
    files: int
    bytes: int
    rows: int
    because: str
    reason: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Orphans:
    """Files in the store that no row names."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Retention:
    """All that is kept."""

    flow: str
    store: str
    kept: tuple[Kept, ...]
    files: int
    bytes: int
    orphans: Orphans


def retention_of(look: Look, orphans: Orphans) -> Retention:
    """What is kept and why; a batch that several need is counted once in the totals."""
    causes = Causes(look)
    groups: dict[tuple[ProcessorId, str, EdgeId | None], dict[str, Use]] = {}
    for use in look.uses:
        groups.setdefault(purpose(look, use), {})[use.batch] = use
    distinct = {use.batch: use.size for use in look.uses}
    kept = [
        Kept(
            p,
            what if edge is None else f"{what} on {edge}",
            len(uses),
            sum(use.size for use in uses.values()),
            sum(use.rows for use in uses.values()),
            *because(causes, p, what, edge, list(uses.values())),
        )
        for (p, what, edge), uses in groups.items()
    ]
    kept.sort(key=lambda each: -each.bytes)
    return Retention(
        look.name, look.place, tuple(kept), len(distinct), sum(distinct.values()), orphans
    )


def purpose(look: Look, use: Use) -> tuple[ProcessorId, str, EdgeId | None]:
    """Why a processor needs a batch: as state that is settled or not, or for an edge's log."""
    if use.time is None:
        return use.processor, "settled state", None
    pinned = "pinned " if lies_beyond(look, use, look.held.kept) else ""
    if use.part == "record":
        return use.processor, f"{pinned or 'recent '}state", None
    record = look.stored[use.processor].ledger.records[use.time]
    return use.processor, f"{pinned}log", record.sent[int(use.part)].edge


def because(
    causes: Causes, p: ProcessorId, what: str, edge: EdgeId | None, uses: list[Use]
) -> tuple[str, tuple[str, ...]]:
    """Who is the reason that something is kept."""
    look = causes.look
    if what == "settled state":
        return "it is the state itself; nothing older than the low-watermark is kept of it", (p,)
    if what.startswith("pinned "):
        pins = [
            f"pin {pin.name}"
            for pin in look.pins
            if any(lies_beyond(look, use, pin.frontiers) for use in uses)
        ]
        return "pinned: somebody wants to be able to go back before it", tuple(pins)
    if edge is not None:
        target = look.flow.graph.edges[edge].target
        stands = until(causes.solution.frontiers[target])
        guilty = tuple(causes.roots_of(target)) or (target,)
        return f"{target} might ask for it again: it stands at {stands}", guilty
    stands = until(causes.solution.frontiers[p])
    roots = tuple(causes.roots_of(p))
    if not roots:
        return f"it is not folded yet; {p} stands at {stands}", (p,)
    return f"{p} might go back to {stands}", roots


def orphans_of(store: SqlStore, look: Look) -> Orphans:
    """The files that no row names; beside a live run some of them are only just being written."""
    named = {use.batch for use in look.uses}
    names = [name for name in store.files.names() if name not in named]
    sizes = [store.files.size_of(name) for name in names]
    return Orphans(len(names), sum(sizes))


def clear(store: SqlStore, orphans: Orphans) -> None:
    """Removes what no row names: whoever takes a store over clears it first."""
    store.acquire()
    if orphans.files:
        by = {"who": somebody(), "why": "nothing refers to it"}
        what = f"gc of {several(orphans.files, 'file')}, {size(orphans.bytes)}"
        store.repair(Note({}, entry(by, what, {})))

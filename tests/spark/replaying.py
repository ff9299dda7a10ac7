"""Tells a second machine what a real run told the first one, with the simulator's store behind it.

Batches become tokens: the machine never looks inside, so a token does as well as rows on Spark.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.spark.recording import Begun, Entry, Loaded, Stepped, Transacted, described

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Again,
    Collect,
    CollectLog,
    Compacted,
    Delivery,
    Fail,
    Finish,
    Ingest,
    Persist,
    PutBack,
    Release,
    Result,
    Retract,
    RolledBack,
    Work,
)
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import Past, Record
from falkirk.core.machine.message import Message
from falkirk.core.machine.rules import ALL_RULES
from falkirk.core.machine.stored import Stored
from falkirk.runtime.batch import Batch
from falkirk.store import open_store
from falkirk.store.reference import Reference
from falkirk.testing.store import SimulatedStore


@dataclass(eq=False, slots=True)
class Token:
    """Stands for a batch; one object for each content and label."""

    name: str
    label: str
    reference: Reference | None = None

    def __repr__(self) -> str:
        return f"<{self.name[:8]} {self.label}>"


HOLDERS = (
    *(Record, Past, Message, Delivery, Again, Result, Ingest, Compacted),
    *(Persist, Collect, Release),
)
"""The values of the machine in which there can be batches."""


class Tokens:
    """The tokens of a run; contents are recognised by their file, or else by themselves."""

    def __init__(self) -> None:
        """No tokens yet."""
        self._known: dict[tuple[str, str], Token] = {}

    def of(self, value: Any) -> Any:
        """``value`` with tokens in the place of all its batches."""
        if isinstance(value, Batch):
            reference = value.reference
            name = reference.name if reference else f"#{id(value.content)}"
            return self.named(name, value.label)
        if type(value) is tuple:  # a frontier is a tuple of its own kind
            return tuple(self.of(each) for each in value)
        if isinstance(value, list):
            return [self.of(each) for each in value]
        if is_dataclass(value) and not isinstance(value, type) and has_batches(value):
            fields = value.__dataclass_fields__
            return type(value)(**{name: self.of(getattr(value, name)) for name in fields})
        return value

    def named(self, name: str, label: str) -> Token:
        """The one token of a content and a label."""
        return self._known.setdefault((name, label), Token(name, label))


def has_batches(value: Any) -> bool:
    """Whether a dataclass of the machine can hold batches."""
    return isinstance(value, HOLDERS)


class Replay:
    """A machine beside the simulator's store, which is told the entries of a recording."""

    def __init__(self, flow: Flow) -> None:
        """Nothing was told."""
        self.flow, self.tokens = flow, Tokens()
        self.machine, self.store = Machine(flow), SimulatedStore(flow, ALL_RULES)
        self.works: dict[int, Work] = {}
        self.rollbacks: list[RolledBack] = []
        self.loaded: dict[Any, Stored] = {}

    def tell(self, entry: Entry) -> None:
        """Tells one entry, and compares what the machine asks for with what it asked for then."""
        match entry:
            case Begun(item):
                work = self.machine.begin(self.matching(item))
                self.works[work.number] = work
            case Stepped(event, effects):
                found = self.machine.step(self.translated(event))
                same(self.tokens.of(effects), found, f"after {event!r}")
                self.rollbacks += [each for each in found if isinstance(each, RolledBack)]
            case Transacted(effects, _):
                for effect in effects:
                    self.carry_out(self.tokens.of(effect))
            case Loaded(stored):
                self.load(stored)

    def matching(self, item: Any) -> Any:
        """The item that this machine offers in the place of one that the other offered."""
        wanted = shown(self.tokens.of(item))
        offered = {repr(shown(each)): each for each in self.machine.enabled()}
        assert repr(wanted) in offered, f"{wanted} is not offered, but {sorted(offered)}"
        return offered[repr(wanted)]

    def translated(self, event: Any) -> Any:
        """The event as this machine must hear it: its own work, and what its own store holds."""
        if isinstance(event, Finish):
            return Finish(self.works[event.work.number], self.tokens.of(event.result))
        if isinstance(event, PutBack):
            return PutBack(self.works[event.work.number])
        if isinstance(event, Fail):
            return Fail(event.processors, {p: self.loaded[p] for p in event.processors})
        return self.tokens.of(event) if isinstance(event, Ingest | Compacted) else event

    def load(self, stored: Mapping[Any, Any]) -> None:
        """What the real store held is what the simulated one holds."""
        for p, real in stored.items():
            self.loaded[p] = self.store.read(p)
            same(real, described(self.loaded[p], plain), f"stored of {p}")

    def carry_out(self, effect: Any) -> None:
        """Stores what the real store stored."""
        match effect:
            case Persist():
                self.store.commit(effect)
            case Retract():
                self.store.retract(effect)
            case Collect() | CollectLog():
                self.store.collect(effect)


class SecondStore:
    """A real store that is told the same transactions, with small files for tokens.

    It forgets to carry out effects of the kinds ``dropping``.
    """

    def __init__(
        self, folder: Path, flow: Flow, tokens: Tokens, dropping: tuple[type, ...] = ()
    ) -> None:
        """An empty store."""
        self.flow, self.tokens, self.dropping = flow, tokens, dropping
        self.store = open_store(folder)
        self.store.acquire()
        self.store.load(flow, self.revive)
        self._named: dict[str, Token] = {}

    def transact(self, entry: Transacted) -> None:
        """Carries out a transaction of the recording."""
        kept = [each for each in entry.effects if not isinstance(each, self.dropping)]
        effects = [self.tokens.of(effect) for effect in kept]
        for effect in effects:
            for token in tokens_in(effect):
                if token.reference is None:
                    token.reference = self.store.files.write(pa.table({"n": [1]}))
                    self._named[token.reference.name] = token
        self.store.transact(effects, entry.captures)

    def revive(self, reference: Reference, label: str) -> Token:
        """The token that a file stands for."""
        return self.tokens.named(self._named[reference.name].name, label)

    def load(self) -> dict[Any, Any]:
        """What a process that starts now would find."""
        found = self.store.load(self.flow, self.revive)
        assert not self.store.damages
        return found


def tokens_in(effect: Any) -> Iterator[Token]:
    """The tokens that must be durable before an effect."""
    if isinstance(effect, Persist):
        for record in effect.records:
            yield from (t for t in record.state if isinstance(t, Token))
            yield from (m.batch for m in record.sent if isinstance(m.batch, Token))
            yield from (past.batch for past in record.delivered if isinstance(past.batch, Token))
    elif isinstance(effect, Collect):
        yield from (t for _, t in effect.state if isinstance(t, Token))


def plain(batch: Any) -> Any:
    """A token as the real store's batches are described."""
    if isinstance(batch, Token):
        return batch.name, batch.label
    return tuple(batch) if isinstance(batch, list) else batch


def shown(item: Any) -> Any:
    """An item without what need not be the same object."""
    if isinstance(item, Delivery):
        return item.processor, replace(item.message)
    return item


def same(real: Any, simulated: Any, where: str) -> None:
    """Both are the same, as written out; several things are compared one by one."""
    if isinstance(real, list) and isinstance(simulated, list):
        for first, second in zip(real, simulated, strict=False):
            same(first, second, where)
    one, other = written(real), written(simulated)
    assert one == other, f"{where}:\nSpark has     {one}\nsimulated is  {other}"


def written(value: Any) -> str:
    """A value in canonical form, with the fields that ``repr`` leaves out."""
    if is_dataclass(value) and not isinstance(value, type | Token):
        fields = {name: getattr(value, name) for name in value.__dataclass_fields__}
        fields.pop("reasons", None)  # they follow from the rest, and hold whole checkpoints
        if isinstance(value, Collect):  # what is folded is a set; stores give it back in any order
            fields |= {name: set(map(written, fields[name])) for name in ("times", "state")}
        return f"{type(value).__name__}({written(fields)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{k!r}: {written(v)}" for k, v in value.items())) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(written, value))) + "}"
    if type(value) in (list, tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return repr(value)

"""Pins: named choices of frontiers that nothing may be collected beyond.

A pin is a globally consistent choice, such as the low-watermarks of one moment. While it is there
collection stays inside it, so that everything can go back there and be looked at there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from falkirk.core.machine.events import Pin
from falkirk.core.times import ProcessorId
from falkirk.store.codec import frontier_from_json, frontier_to_json
from falkirk.store.noting import found

PIN = "pin:"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pin: what it keeps of each processor, who asked for it, when and why.

    With ``outputs`` it holds back what outputs show as well.
    """

    name: str
    frontiers: Mapping[ProcessorId, Any]
    outputs: bool
    at: float
    who: str
    why: str

    @property
    def fact(self) -> dict[str, Any]:
        """The pin as it is noted, under its name."""
        value = {
            "frontiers": {p: frontier_to_json(f) for p, f in self.frontiers.items()},
            "outputs": self.outputs,
            "at": self.at,
            "who": self.who,
            "why": self.why,
        }
        return {PIN + self.name: value}

    def outside(self, frontiers: Mapping[ProcessorId, Any]) -> bool:
        """Whether it speaks of what would be undone by going back to ``frontiers``."""
        return any(p in frontiers and not f <= frontiers[p] for p, f in self.frontiers.items())


def pins_in(connection: Connection) -> tuple[Pinned, ...]:
    """All pins, the oldest first."""
    pins = [
        Pinned(
            name,
            {ProcessorId(p): frontier_from_json(f) for p, f in value["frontiers"].items()},
            value["outputs"],
            value["at"],
            value["who"],
            value["why"],
        )
        for name, value in found(connection, PIN)
    ]
    return tuple(sorted(pins, key=lambda pin: (pin.at, pin.name)))


def held(pins: Iterable[Pinned], free: Collection[str] = ()) -> Pin:
    """What all ``pins`` together hold back; nothing of those that are ``free``."""
    kept: dict[ProcessorId, Any] = {}
    shown: dict[ProcessorId, Any] = {}
    for pin in pins:
        for p, frontier in pin.frontiers.items():
            if p not in free:
                kept[p] = kept[p] & frontier if p in kept else frontier
            if pin.outputs:
                shown[p] = shown[p] & frontier if p in shown else frontier
    return Pin(kept, shown)

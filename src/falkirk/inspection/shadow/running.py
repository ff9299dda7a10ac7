"""Running a shadow: the changed flow along the live one's epochs, until told to stop or level."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from falkirk.core.errors import StoreError
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.description import about, describe
from falkirk.inspection.shadow.facts import fact, refuse_promoting, shadow_of
from falkirk.inspection.shadow.following import Apart, Followed, Trail
from falkirk.inspection.shadow.planning import OWN
from falkirk.inspection.shadow.recording import recording
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.report import Report
from falkirk.runtime.run import held, prepared, session_for, stopped_by_signals
from falkirk.store.adoption import ABOUT
from falkirk.store.codec import parsed
from falkirk.store.opening import open_store
from falkirk.store.store import SqlStore

WATCH_SECONDS = 0.1


def run_shadow(
    flow: Dataflow,
    place: str,
    spark: Any = None,
    *,
    live: str | None = None,
    once: bool = False,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    options: Options | None = None,
) -> Report:
    """Runs the shadow at ``place`` beside its live flow.

    It stops when it is level with a live flow that does not run; with ``once`` when it is level
    with what the live flow has done so far. Sinks of the flow are not touched. ``live`` is the
    address of the live store, if there is more to it than the shadow remembers: a password.
    """
    blueprint, store = flow.build(), open_store(place, make=False)
    try:
        shadow = shadow_of(store)
        refuse_promoting(shadow, place)
        with held(store) as durable:
            refuse_changed(store, blueprint, place)
            durable.adopt({**describe(blueprint), ABOUT: about(blueprint, True)})
            inputs = [p for p in blueprint.sources if shadow.inputs[p] != OWN]
            trail = Trail(shadow, inputs, store.database, live)
            changed = sources_of(recording(blueprint, shadow.outputs, place), trail)
            with session_for(spark, f"{blueprint.name} (shadow)", master, settings) as session:
                alone = replace(options or Options(), monitor="embedded")
                driver = prepared(changed, durable, session, alone)
                for node in changed.sources.values():
                    if isinstance(node.operator, Followed):
                        node.operator.driver = driver
                with stopped_by_signals(driver), stopped_when_level(driver, trail, once):
                    return driver.run()
    finally:
        store.close()


def refuse_changed(store: SqlStore, blueprint: Blueprint, place: str) -> None:
    """A shadow runs one flow from beginning to end: its results are those of that one."""
    with store.database.reading() as connection:
        known = parsed(fact(connection, ABOUT) or "{}").get("processors", {})
    given = about(blueprint, True)["processors"]
    differ = sorted(
        p for p, each in given.items() if known.get(p, {}).get("definition") != each["definition"]
    )
    if differ:
        raise StoreError(
            f"{', '.join(map(repr, differ))} changed since the shadow at {place} was made: drop it"
            " and make a new one"
        )


def sources_of(blueprint: Blueprint, trail: Trail) -> Blueprint:
    """The same flow, whose inputs follow ``trail``."""
    nodes = dict(blueprint.nodes)
    for p, node in blueprint.sources.items():
        source: Any = Followed(p, node.operator, trail) if p in trail.ends else Apart(node.operator)
        nodes[p] = replace(node, operator=source)
    return replace(blueprint, nodes=nodes)


@contextmanager
def stopped_when_level(driver: Driver, trail: Trail, once: bool) -> Iterator[None]:
    """Stops the driver when there is nothing left to follow."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_SECONDS):
            if trail.looks and (once or not trail.running) and is_level(driver, trail):
                driver.stop()
                return

    watcher = threading.Thread(target=watch, name="falkirk-shadow", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def is_level(driver: Driver, trail: Trail) -> bool:
    """Whether every input has read all that the live flow has."""
    for p in trail.ends:
        epoch = driver.machine.state.standing[ProcessorId(p)].epoch
        if epoch is None or not trail.is_level(p, epoch):
            return False
    own = [reader for p, reader in driver.feeding.readers.items() if p not in trail.ends]
    now = time.monotonic()
    return all(reader.ended or reader.quiet_until > now for reader in own)

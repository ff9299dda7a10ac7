"""``fk.run``: runs a flow on Spark from where its store says it stopped."""

import logging
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import RolledBack
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.description import about, describe
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.driver import Driver
from falkirk.runtime.listening import Listener
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.options import Options
from falkirk.runtime.report import Report
from falkirk.runtime.requests import answering, forgetful
from falkirk.runtime.session import start_session
from falkirk.runtime.undoing import undo_what_is_left
from falkirk.store import DamageError, Reference, Store, open_store, pins

log = logging.getLogger("falkirk.run")


def run(
    flow: Dataflow,
    store: str | Path | Store,
    spark: Any = None,
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    options: Options | None = None,
    listeners: Iterable[Listener] = (),
) -> Report:
    """Runs ``flow`` until its inputs end or the process is told to stop.

    ``store`` is a folder or a URL; a second run on it goes on where the first one stopped. Without
    ``spark`` a session is started on ``master`` with ``settings``, and ended afterwards.
    ``listeners`` are told how the run goes.
    """
    blueprint, options = flow.build(), options or Options()
    with held(store) as durable:
        embedded = options.monitor == "embedded"
        durable.adopt({**describe(blueprint), "about": about(blueprint, embedded)})
        with session_for(spark, blueprint.name, master, settings) as session:
            start = partial(drive, blueprint, durable, session, options, tuple(listeners))
            try:
                report = start()
            except DamageError as error:
                log.warning("%s; going on without the checkpoints that need it", error)
                report = start(verify=True)
        report.calm = report.calm and not durable.acquire().took_over
        return report


def drive(
    blueprint: Blueprint,
    store: Store,
    session: Any,
    options: Options,
    listeners: Iterable[Listener] = (),
    verify: bool = False,
) -> Report:
    """Goes on from what the store holds; with ``verify`` every file is read first."""
    driver = prepared(blueprint, store, session, options, listeners, verify)
    with stopped_by_signals(driver), answering(driver):
        return driver.run()


def prepared(
    blueprint: Blueprint,
    store: Store,
    session: Any,
    options: Options,
    listeners: Iterable[Listener] = (),
    verify: bool = False,
    rules: Rules = ALL_RULES,
) -> Driver:
    """A driver that will go on from what the store holds; only tests leave out ``rules``."""
    materialiser = Materialiser(
        session, store.files, options.small_bytes_max, options.columns_bytes_min
    )

    def revive(reference: Reference, label: str) -> Batch:
        return Batch(Content(reference=reference), materialiser, label)

    def gather(batches: tuple[Batch, ...]) -> Batch:
        return Batch(materialiser.union([batch.content for batch in batches]), materialiser)

    stored = store.load(blueprint.flow, revive, verify=verify)
    for damage in store.damages:
        log.warning(
            "%s is damaged (%s), which costs %s of %s",
            damage.file,
            damage.problem,
            ", ".join(map(repr, damage.checkpoints)) or "nothing",
            damage.processor,
        )
    undo_what_is_left(blueprint, store)
    pinned = pins.held(store.noticeboard.pins(), forgetful(blueprint))
    machine = Machine(blueprint.flow, stored if begun(stored) else None, rules, gather, pinned)
    driver = Driver(blueprint, machine, store, materialiser, options, revive, listeners)
    driver.report.calm = begun(stored) and not store.damages and kept_all(stored, machine)
    return driver


@contextmanager
def held(store: str | Path | Store) -> Iterator[Store]:
    """The store, for this process alone; what was opened here is closed here."""
    opened = open_store(str(store)) if isinstance(store, str | Path) else store
    lease = opened.acquire()
    try:
        yield opened
    finally:
        lease.release()
        if opened is not store:
            opened.close()


@contextmanager
def session_for(
    given: Any, name: str, master: str, settings: Mapping[str, str] | None
) -> Iterator[Any]:
    """The user's session, or one that ends with the run."""
    if given is not None:
        yield given
        return
    session = start_session(name, master, settings)
    try:
        yield session
    finally:
        with suppress(Exception):  # there may be nobody left to be told
            session.stop()


def begun(stored: Mapping[ProcessorId, Stored]) -> bool:
    """Whether a store holds anything of a flow."""
    return any(
        each.checkpoints or each.incarnation or not each.ledger.base.frontier.is_empty
        for each in stored.values()
    )


def kept_all(stored: Mapping[ProcessorId, Stored], machine: Machine) -> bool:
    """Whether a machine that has just been started again left nobody behind its last checkpoint."""
    plans = [effect.frontiers for effect in machine.effects if isinstance(effect, RolledBack)]
    return all(
        each.checkpoints[-1].frontier <= plan[p]
        for plan in plans
        for p, each in stored.items()
        if each.checkpoints
    )


@contextmanager
def stopped_by_signals(driver: Driver) -> Iterator[None]:
    """SIGINT and SIGTERM let a run finish what it has read; a second one ends it at once."""
    if current_thread() is not main_thread():
        yield
        return

    def stop(number: int, _: Any) -> None:
        signal.signal(number, signal.default_int_handler)
        driver.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

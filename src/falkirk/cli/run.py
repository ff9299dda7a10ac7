"""``falkirk run``: runs a flow from a Python file."""

import logging
import runpy
import sys
from pathlib import Path
from typing import Any

import click

from falkirk.core.errors import ConfigurationError
from falkirk.dataflow.builder import Dataflow


@click.command()
@click.argument("app", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--store", required=True, help="Folder or postgresql:// URL that keeps the state.")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--flow", "name", help="Which flow of APP to run, if it has several.")
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting; repeatable.")
@click.option(
    "--monitor",
    type=click.Choice(["embedded", "external"]),
    default="embedded",
    show_default=True,
    help="Who says what may be collected: the flow alone, or `falkirk monitor` as well.",
)
@click.option("--verbose", "-v", is_flag=True, help="Say what goes on.")
def run(
    app: Path,
    store: str,
    master: str,
    name: str | None,
    conf: tuple[str, ...],
    monitor: str,
    verbose: bool,
) -> None:
    """Runs the flow in the Python file APP until its inputs end.

    A second run on the same store goes on where the first one stopped. SIGINT and SIGTERM finish
    what was read, and stop.
    """
    # Spark is loaded when it is needed: the other commands start faster without it.
    from falkirk.runtime.options import Options
    from falkirk.runtime.run import run as run_flow

    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
        logging.getLogger("py4j").setLevel(logging.WARNING)
    flow = chosen_flow(app, name)
    options = Options(monitor=monitor)
    report = run_flow(flow, store, master=master, settings=settings_of(conf), options=options)
    for line in report.summary():
        click.echo(line)


def chosen_flow(app: Path, name: str | None) -> Dataflow:
    """The flow that ``app`` defines; with several, the one called ``name``."""
    sys.path.insert(0, str(app.parent.resolve()))
    found: dict[str, Dataflow] = {}
    for value in load(app).values():
        if isinstance(value, Dataflow):
            found[value.name] = value
    if name is not None and name not in found:
        raise ConfigurationError(f"{app} has no flow {name!r}: it has {listed(found)}")
    if name is None and len(found) != 1:
        raise ConfigurationError(
            f"{app} has {listed(found)}: "
            + ("say which by --flow" if found else "give a fk.Dataflow a name at module level")
        )
    return found[name] if name is not None else next(iter(found.values()))


def load(app: Path) -> dict[str, Any]:
    """Runs the file as a module; what stands under ``if __name__ == "__main__"`` is left out."""
    return runpy.run_path(str(app), run_name="__falkirk__")


def listed(found: dict[str, Dataflow]) -> str:
    """The names of flows, in words."""
    return ", ".join(f"a flow {name!r}" for name in found) or "no flow"


def settings_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """Spark settings from KEY=VALUE."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigurationError(f"--conf {pair!r} is not KEY=VALUE")
        settings[key] = value
    return settings

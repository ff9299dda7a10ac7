"""``falkirk run``: runs a flow from a Python file."""

import logging
from typing import TYPE_CHECKING, Any

import click

from falkirk.cli.apps import as_script, chosen_flow
from falkirk.cli.common import app_argument, flow_option, json_option, store_option
from falkirk.cli.page import as_json
from falkirk.cli.progress import progress
from falkirk.cli.settings import Settings, settings
from falkirk.cli.watched import watched, watching_options
from falkirk.core.errors import ConfigurationError

if TYPE_CHECKING:
    from falkirk.runtime.report import Report

MASTER = "local[*]"


@click.command(short_help="Run the flow in a Python file.")
@app_argument
@store_option
@click.option("--master", help=f"Spark master. [FALKIRK_MASTER, falkirk.toml, {MASTER}]")
@flow_option
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting; repeatable.")
@click.option(
    "--monitor",
    type=click.Choice(["embedded", "external"]),
    help="Who says what may be collected: the flow alone, or `falkirk monitor` as well.",
)
@watching_options
@click.option("--verbose", "-v", is_flag=True, help="Say what goes on.")
@json_option
def run(
    app: str | None,
    store: str | None,
    master: str | None,
    flow: str | None,
    conf: tuple[str, ...],
    monitor: str | None,
    verbose: bool,
    wants_json: bool,
    **watching: Any,
) -> None:
    """Run the flow in the Python file APP until its inputs end.

    A second run on the same store goes on where the first one stopped. SIGINT and SIGTERM finish
    what was read, and stop. What is not said here is in falkirk.toml.
    """
    if verbose and not watching["log_json"]:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
        logging.getLogger("py4j").setLevel(logging.WARNING)
    given = settings(app, store=store, master=master, flow=flow, monitor=monitor)
    run_with(given, settings_of(conf), verbose, wants_json, watching)


def run_with(
    given: Settings,
    conf: dict[str, str],
    verbose: bool,
    wants_json: bool,
    watching: dict[str, Any],
) -> None:
    """Runs the flow that the settings name, watched as it is wished."""
    with as_script(given.the_app()):
        report = reported(given, conf, verbose, wants_json, watching)
    if wants_json:
        aside = [{"processor": p, "time": list(time)} for p, time in report.set_aside]
        as_json({"recoveries": report.recovered, "retries": report.retries, "set_aside": aside})
        return
    for line in report.summary():
        click.echo(line)


def reported(
    given: Settings,
    conf: dict[str, str],
    verbose: bool,
    wants_json: bool,
    watching: dict[str, Any],
) -> "Report":
    """What comes of running the flow; what cannot work is told before anything is begun."""
    chosen, place, options = (
        chosen_flow(given.the_app(), given.flow),
        given.the_store(),
        given.the_options(),
    )
    chosen.build()  # what is wrong with the flow is told before Spark is started
    # Spark is loaded when it is needed: the other commands start faster without it.
    from falkirk.runtime.run import run as run_flow
    from falkirk.runtime.starting import StartError, check_start

    master, spark = given.master or MASTER, {**given.spark, **conf}
    origins = {**given.origins, **dict.fromkeys(conf, "--conf")}
    shown = not (verbose or watching["log_json"])
    with watched(place, verbose, **watching) as listeners:
        check_start(master, spark, origins)  # nobody holds the store while it waits for a master
        with progress(chosen.name, place, shown=shown, lines=not wants_json):
            try:
                return run_flow(
                    chosen,
                    place,
                    master=master,
                    settings=spark,
                    options=options,
                    listeners=listeners,
                )
            except StartError as error:
                raise error.given_by(origins) from error.__cause__


def settings_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """Spark settings from KEY=VALUE."""
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigurationError(f"--conf {pair!r} is not KEY=VALUE")
        settings[key] = value
    return settings

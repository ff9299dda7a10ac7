"""``falkirk doctor``: whether this machine, the settings and the store are fit to run."""

import click
from rich.console import Console
from rich.progress import Progress

from falkirk.cli.apps import chosen_flow
from falkirk.cli.check import FOUND
from falkirk.cli.common import app_argument, flow_option, json_option, store_option
from falkirk.cli.page import BAD, FAINT, GOOD, ODD, Page, as_json
from falkirk.cli.settings import settings

SIGNS = {"ok": ("✓", GOOD), "warn": ("!", ODD), "fail": ("✗", BAD)}


@click.command(short_help="Look whether this machine, the app and the store are fit to run.")
@app_argument
@click.option("--deep", is_flag=True, help="Read every file of the store and compare checksums.")
@store_option
@click.option("--master", help="Spark master. [FALKIRK_MASTER, falkirk.toml]")
@flow_option
@json_option
def doctor(
    app: str | None,
    deep: bool,
    store: str | None,
    master: str | None,
    flow: str | None,
    wants_json: bool,
) -> None:
    """Look at Java, Spark, APP, the store, connectors and disks, and say what to do.

    APP is read as `run` reads it, and the systems behind its sources and sinks are tried; nothing
    is changed. Exit status 1 if something must be mended.
    """
    from falkirk.inspection.health import examine

    console = Console(stderr=True)
    quiet = wants_json or not console.is_terminal
    with Progress(console=console, transient=True, disable=quiet) as progress:
        bar = progress.add_task("looking", total=None)
        found = examine(
            lambda: settings(app, store=store, master=master, flow=flow),
            lambda given: chosen_flow(given.the_app(), given.flow).build(),
            deep,
            lambda done, total: progress.update(bar, completed=done, total=total),
        )
    if wants_json:
        as_json(
            [{"what": f.what, "state": f.state, "words": f.words, "next": f.next} for f in found]
        )
    else:
        wide = max(len(each.what) for each in found)
        with Page() as page:
            for each in found:
                sign, style = SIGNS[each.state]
                page.line(
                    (sign, style), " ", (f"{each.what:{wide}}", "bold"), f" {each.words}", indent=0
                )
                if each.next:
                    page.line((each.next, FAINT), indent=wide + 3)
    if any(each.state == "fail" for each in found):
        raise SystemExit(FOUND)

"""``falkirk pin`` and ``falkirk unpin``: keeping a moment of a flow, and letting it go."""

from typing import Any

import click

from falkirk.cli.common import json_option, store_option, timeout_option
from falkirk.cli.page import FAINT, GOOD, Page, as_json
from falkirk.cli.pins import laid_out
from falkirk.cli.settings import settings

why_option = click.option("--why", default="", help="Why: it is kept, see `falkirk audit`.")


@click.command(short_help="Keep a time from being collected, under a name.")
@click.argument("name")
@click.option(
    "--at",
    "targets",
    multiple=True,
    metavar="P@TIME",
    help="Keep the newest that lies up to TIME at P, and not the present; repeatable.",
)
@click.option(
    "--hold-outputs",
    is_flag=True,
    help="Show nothing beyond the pin until it is gone, so that no output stands in the way.",
)
@why_option
@click.option("--dry-run", is_flag=True, help="Say what would be pinned; change nothing.")
@timeout_option
@store_option
@json_option
def pin(
    name: str,
    targets: tuple[str, ...],
    hold_outputs: bool,
    why: str,
    dry_run: bool,
    timeout: float,
    store: str | None,
    wants_json: bool,
) -> None:
    """Keep the present of a flow, or an older time, from being collected.

    As long as the pin NAME is there, `falkirk rollback --to-pin NAME` can put the flow back, and
    `falkirk state P@NAME` shows the state as it was. Until `falkirk unpin NAME` nothing beyond it
    is collected, and sources are not told that they may forget it. `falkirk pins` says what that
    costs. Works beside a live run and without one.
    """
    from dataclasses import asdict

    from falkirk.inspection.look import look, opened
    from falkirk.inspection.pinning import planned, put
    from falkirk.inspection.pins import described, read_bounds, the_pin

    with opened(settings(store=store).the_store()) as there:
        seen = look(there)
        bounds = read_bounds(seen, targets)
        chosen = planned(seen, name, bounds, hold_outputs, why)
        if not dry_run:
            put(there, seen, chosen, bounds, timeout)
            seen = look(there)
            chosen = the_pin(seen, name)
        found = described(seen, chosen)
    if wants_json:
        as_json({**asdict(found), "pinned": not dry_run})
        return
    show(f"Pin {name}", seen, found, "pinned", dry_run)


@click.command(short_help="Let a pin go.")
@click.argument("name")
@why_option
@click.option("--dry-run", is_flag=True, help="Say what would be let go; change nothing.")
@timeout_option
@store_option
@json_option
def unpin(
    name: str, why: str, dry_run: bool, timeout: float, store: str | None, wants_json: bool
) -> None:
    """Let a pin go, so that what it held back can be collected.

    A live run does that at once, else the next one does.
    """
    from dataclasses import asdict

    from falkirk.inspection.look import look, opened
    from falkirk.inspection.pinning import remove
    from falkirk.inspection.pins import described, the_pin

    with opened(settings(store=store).the_store()) as there:
        seen = look(there)
        found = described(seen, the_pin(seen, name))
        if not dry_run:
            remove(there, seen, name, why, timeout)
    if wants_json:
        as_json({**asdict(found), "pinned": dry_run})
        return
    show(f"Unpin {name}", seen, found, "let go", dry_run)


def show(title: str, seen: Any, found: Any, done: str, dry_run: bool) -> None:
    """Prints a pin, and what was done with it."""
    with Page() as page:
        page.title(title, f"{seen.name}  {seen.place}")
        laid_out(page, found)
        page.space()
        said = f"would be {done}; nothing was changed" if dry_run else done
        page.line((said, FAINT if dry_run else GOOD), indent=0)

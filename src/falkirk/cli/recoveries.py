"""``falkirk recoveries``: what a flow has gone back for, and what that has cost."""

from datetime import UTC, datetime
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import BAD, FAINT, Page, as_json
from falkirk.cli.settings import settings

KINDS = {
    "restart": "restart",
    "lost-executor": "lost executor",
    "error": "failure",
    "repair": "repair",
}


@click.command(short_help="List recoveries: why, who went back where, and what it cost.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many to show, the newest first.",
)
@store_option
@json_option
def recoveries(limit: int, store: str | None, wants_json: bool) -> None:
    """List the recoveries of a flow, restarts and repairs included, also of earlier runs.

    For each: its cause, where everybody went and what forced them, how much was done again, and
    how long it took.
    """
    from dataclasses import asdict

    from falkirk.inspection.look import look, opened
    from falkirk.inspection.recoveries import recoveries_of, remembered

    with opened(settings(store=store).the_store()) as there:
        seen = look(there)
        found = recoveries_of(seen, remembered(there))[:limit]
    if wants_json:
        entries = [asdict(each) for each in found]
        as_json({"flow": seen.name, "store": seen.place, "recoveries": entries})
        return
    with Page() as page:
        page.title(seen.name, seen.place)
        if not found:
            page.line("no recovery is remembered")
        for each in found:
            show(page, each)


def show(page: Page, recovery: Any) -> None:
    """One recovery."""
    from falkirk.inspection.words import several

    when = datetime.fromtimestamp(recovery.at, UTC).isoformat(" ", "seconds")
    kind = KINDS[recovery.kind]
    style = BAD if recovery.kind in ("error", "lost-executor") else "bold"
    page.space()
    page.line((f"{recovery.number}  {when}  ", FAINT), (kind, style))
    if recovery.cause != recovery.kind:
        page.line(recovery.cause, indent=4)
    if recovery.failed and recovery.kind != "restart":
        page.line(f"failed: {', '.join(recovery.failed)}", indent=4)
    for each in recovery.moved:
        again = f", {several(each.epochs, 'epoch')} again" if each.epochs else ""
        page.line((each.processor, "bold"), f"  went back to {each.to}{again}", indent=4)
        for reason in each.reasons[:1]:
            page.line((f"{reason.words} ({reason.section})", FAINT), indent=6)
    took = f"planned in {recovery.seconds:.3f} s"
    if recovery.caught_up is not None:
        rows = f" and {several(recovery.rows, 'row')}" if recovery.rows else ""
        took += f", caught up after {recovery.caught_up:.1f} s{rows}"
    elif recovery.kind == "restart":
        took += ", when it had caught up is not known"
    page.line((f"{several(recovery.kept, 'processor')} stayed; {took}", FAINT), indent=4)

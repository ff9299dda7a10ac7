"""``falkirk status``: how a flow stands, from its store."""

import json
from datetime import datetime
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import BAD, FAINT, GOOD, ODD, Page, as_json, faint, strong
from falkirk.cli.settings import settings

POSITION_MAX = 48


@click.command()
@store_option
@json_option
def status(store: str | None, wants_json: bool) -> None:
    """Show how the flow in a store stands.

    For every processor: its policy, what it has saved, its low-watermark (below which it will never
    go back) and what it keeps. Works beside a live run and afterwards; needs neither Spark nor the
    app.
    """
    from falkirk.inspection.look import look, opened
    from falkirk.inspection.status import status_of

    with opened(settings(store=store).the_store()) as there:
        found = status_of(look(there), there.noticeboard.last_recovery())
    if wants_json:
        as_json(found)
        return
    with Page() as page:
        show(page, found)


def show(page: Page, found: Any) -> None:
    """Lays a status out."""
    from falkirk.inspection.words import several, size

    page.title(found.flow, found.store)
    page.line(*lease(found.lease))
    if found.trouble:
        page.line((f"cannot be recovered: {found.trouble}", BAD))
    page.heading("Processors")
    page.table(
        ("processor", "policy", "saved up to", "low-watermark", "checkpoints", "log", "kept"),
        [
            (
                strong(each.name),
                faint(each.policy),
                each.saved.words if each.checkpoints else faint("–"),
                "–" if each.watermark is None else each.watermark.words,
                each.checkpoints or faint("–"),
                each.logged or faint("–"),
                size(each.bytes) if each.files else faint("–"),
            )
            for each in found.processors
        ],
        right=("checkpoints", "log", "kept"),
    )
    page.heading("Inputs")
    for each in found.inputs:
        page.line(
            (each.name, "bold"),
            f"  read up to {each.read.words}",
            (shown_position(each.read_position), FAINT),
            f", acknowledged up to {each.acknowledged.words}",
            (shown_position(each.acknowledged_position), FAINT),
        )
    page.heading("Outputs")
    way = "shown or on the way out" if found.pins or found.monitored else "on the way out"
    way += ", and kept by a pin" if found.pins else ""
    for each in found.outputs:
        waiting = [
            f", {several(each.leaving, 'time')} {way}" if each.leaving else "",
            f", {several(each.open, 'staged time')} that can still change" if each.open else "",
        ]
        page.line((each.name, "bold"), f"  released up to {each.released.words}", *waiting)
    rolled = [each for each in found.processors if each.rollbacks]
    page.space()
    page.line(f"{several(found.files, 'file')}, {size(found.bytes)} kept", indent=0)
    if rolled:
        most = max(each.rollbacks for each in rolled)
        page.line(f"{several(most, 'rollback')} since the beginning, restarts included", indent=0)
    for pin in found.pins:
        held = f"{size(pin.cost.bytes)} that could be collected"
        page.line(("pin ", ODD), (pin.name, "bold"), f" holds back {held}: {pin.why}", indent=0)
    if found.recoveries:
        page.line(
            f"{several(found.recoveries, 'recovery', 'recoveries')}: see `falkirk recoveries`",
            indent=0,
        )
    if found.repairs:
        page.line(
            f"{several(found.repairs, 'change')} by hand: see `falkirk audit`",
            indent=0,
        )


def lease(holder: Any) -> list[Any]:
    """Who runs the flow, in words."""
    if holder.state == "free":
        return [("stopped", FAINT), "  nobody runs it"]
    since = datetime.fromtimestamp(holder.since).isoformat(" ", "seconds")
    who = f"process {holder.pid} on {holder.host}, since {since}"
    if holder.state == "live":
        return [("running", GOOD), f"  {who}"]
    if holder.state == "dead":
        return [("stopped", ODD), f"  {who}, is gone without a word: the next run takes over"]
    return [("silent", ODD), f"  {who}, has not been heard of: its lease is over"]


def shown_position(position: Any) -> str:
    """A position of a source, shortened."""
    if position is None:
        return ""
    text = json.dumps(position, ensure_ascii=False)
    return f" (position {text if len(text) <= POSITION_MAX else text[:POSITION_MAX] + '…'})"

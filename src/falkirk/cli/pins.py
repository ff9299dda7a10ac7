"""``falkirk pins``: what is pinned, and what that costs."""

from datetime import UTC, datetime
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import FAINT, Page, as_json, together
from falkirk.cli.settings import settings


@click.command(short_help="List pins, and what each of them holds back.")
@store_option
@json_option
def pins(store: str | None, wants_json: bool) -> None:
    """List the pins of a store: where each keeps whom, why, and what it holds back.

    What a pin holds back is what lies between it and the low-watermarks; without pins it could be
    collected.
    """
    from dataclasses import asdict

    from falkirk.inspection.look import look_at
    from falkirk.inspection.pins import pins_of

    look = look_at(settings(store=store).the_store())
    found = pins_of(look)
    if wants_json:
        as_json({"flow": look.name, "store": look.place, "pins": [asdict(each) for each in found]})
        return
    with Page() as page:
        page.title(look.name, look.place)
        if not found:
            page.line("nothing is pinned; `falkirk pin NAME` keeps the present")
        for each in found:
            page.space()
            page.line((each.name, "bold"))
            laid_out(page, each)


def laid_out(page: Page, pin: Any) -> None:
    """One pin."""
    from falkirk.inspection.words import several, size

    when = datetime.fromtimestamp(pin.at, UTC).isoformat(" ", "seconds")
    cost = pin.cost
    page.line((f"{when}  {pin.who}", FAINT), indent=4)
    page.line(f"why: {pin.why or 'nobody said'}", indent=4)
    kept = {p: mark.words for p, mark in pin.frontiers.items()}
    page.line(f"keeps: {together(kept, 'up to')}", indent=4)
    page.line(
        f"holds back {size(cost.bytes)} in {several(cost.files, 'file')},"
        f" {several(cost.rows, 'row')} of {several(cost.times, 'time')},"
        f" {several(cost.epochs, 'epoch')} not acknowledged",
        (f"; {size(cost.alone_bytes)} on its account alone", FAINT),
        indent=4,
    )
    if pin.outputs:
        page.line("outputs show nothing beyond it", indent=4)

"""``falkirk audit``: what people have done to a store by hand."""

from datetime import UTC, datetime

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import FAINT, Page, as_json, together
from falkirk.cli.settings import settings


@click.command(short_help="List what people changed by hand.")
@store_option
@json_option
def audit(store: str | None, wants_json: bool) -> None:
    """List the repairs that were made to a store by hand: who, when, what and why."""
    from falkirk.inspection.look import look_at

    look = look_at(settings(store=store).the_store())
    if wants_json:
        as_json({"flow": look.name, "store": look.place, "entries": list(look.audit)})
        return
    with Page() as page:
        page.title(look.name, look.place)
        if not look.audit:
            page.line("nobody has changed anything by hand")
        for entry in look.audit:
            when = datetime.fromtimestamp(entry["at"], UTC).isoformat(" ", "seconds")
            wanted = ", ".join(f"{p} to {time}" for p, time in entry.get("to", {}).items())
            moved = together(entry.get("moved", {}), "to")
            verb = "pinned" if str(entry["what"]).startswith("pin ") else "moved"
            page.space()
            page.line((when, FAINT), f"  {entry['who']}  ", (f"{entry['what']} {wanted}", "bold"))
            page.line(f"why: {entry['why'] or 'nobody said'}", indent=4)
            if moved:
                page.line((f"{verb}: {moved}", FAINT), indent=4)

"""``falkirk gc``: what a store keeps and why, and removing what nobody needs."""

from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import FAINT, Page, as_json, faint, strong
from falkirk.cli.settings import settings


@click.command(short_help="Remove what nothing refers to; say what is kept, and why.")
@click.option(
    "--explain", is_flag=True, help="Say what is kept and who is the reason; remove nothing."
)
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@store_option
@json_option
def gc(explain: bool, dry_run: bool, store: str | None, wants_json: bool) -> None:
    """Remove the files in a store that nothing refers to.

    A run does that by itself, so this is for stores whose runs were killed. It needs a store that
    nobody runs on. With --explain it says instead what is kept, and which processor is the reason.
    """
    from dataclasses import asdict

    from falkirk.inspection.look import look, opened
    from falkirk.inspection.repair import refuse_live
    from falkirk.inspection.retention import clear, orphans_of, retention_of

    with opened(settings(store=store).the_store()) as there:
        seen = look(there)
        found = retention_of(seen, orphans_of(there, seen))
        removed = not (explain or dry_run)
        if removed:
            refuse_live(seen)
            clear(there, found.orphans)
    if wants_json:
        as_json({**asdict(found), "removed": removed})
        return
    with Page() as page:
        page.title(found.flow, found.store)
        show(page, found, explain, removed)


def show(page: Page, found: Any, explain: bool, removed: bool) -> None:
    """Lays the answer out."""
    from falkirk.inspection.words import several, size

    if explain:
        page.heading("Kept")
        page.table(
            ("processor", "what", "size", "files", "because", "of whom"),
            [
                (
                    strong(each.processor),
                    each.what,
                    size(each.bytes),
                    each.files,
                    faint(each.because),
                    ", ".join(each.reason),
                )
                for each in found.kept
            ],
            right=("size", "files"),
        )
        page.space()
    kept = f"{several(found.files, 'file')}, {size(found.bytes)} kept"
    lost = f"{several(found.orphans.files, 'file')}, {size(found.orphans.bytes)}"
    page.line(kept, indent=0)
    if not found.orphans.files:
        page.line("nothing to remove", indent=0)
    elif removed:
        page.line(f"{lost} removed that nothing refers to", indent=0)
    else:
        page.line(
            f"{lost} that nothing refers to", ("  `falkirk gc` removes them", FAINT), indent=0
        )

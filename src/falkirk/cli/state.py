"""``falkirk state``: what a processor has saved, as rows."""

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import Page, as_json, faint
from falkirk.cli.settings import settings


@click.command(short_help="Show what a processor has saved, as rows.")
@click.argument("processor", metavar="P[@TIME]")
@click.option("--at", metavar="TIME", help="The same as P@TIME; or the name of a pin.")
@click.option("--label", help="Which kind of state, if the processor keeps several.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many rows to show.",
)
@store_option
@json_option
def state(
    processor: str,
    at: str | None,
    label: str | None,
    limit: int,
    store: str | None,
    wants_json: bool,
) -> None:
    """Show the state that P has saved, at its newest checkpoint or at an older TIME.

    How far back TIME can be is said by the low-watermarks, and by pins: see `falkirk pin`.

    State is kept by time, so each row says in _time when it came: an aggregate keeps what each
    epoch added, and its value is the sum. From Python fk.read_state gives all of it.
    """
    from falkirk.inspection.state import read_table

    if at is not None:
        processor = f"{processor}@{at}"
    table = read_table(settings(store=store).the_store(), processor, label)
    total = 0 if table is None else table.num_rows
    rows = [] if table is None else table.slice(0, limit).to_pylist()
    if wants_json:
        as_json({"processor": processor, "rows": total, "shown": rows})
        return
    with Page() as page:
        page.title(processor, f"{total} rows" + (f", {limit} of them" if total > limit else ""))
        if rows:
            columns = list(rows[0])
            page.table(columns, [[faint(str(row[c])) for c in columns] for row in rows])

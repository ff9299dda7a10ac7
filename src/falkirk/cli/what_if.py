"""``falkirk what-if``: what a failure would cost, before it happens."""

from collections.abc import Collection
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import BAD, FAINT, GOOD, ODD, Page, as_json, faint, strong
from falkirk.cli.settings import settings
from falkirk.cli.status import shown_position


@click.command("what-if")
@click.option("--fail", metavar="P,Q,…", help="Processors that fail together.")
@click.option("--fail-all", is_flag=True, help="Everything fails: the process is killed.")
@store_option
@json_option
def what_if(fail: str | None, fail_all: bool, store: str | None, wants_json: bool) -> None:
    """Say what would happen if processors failed now.

    The real solver decides, on what the store holds: who keeps everything, who goes back and how
    far, what is read again and what is sent again from logs. Nothing is changed.
    """
    from falkirk.inspection.look import look_at
    from falkirk.inspection.supposing import suppose

    given = [name for each in (fail or "").split(",") if (name := each.strip())]
    if bool(given) == fail_all:
        raise click.UsageError("say who fails: --fail P,Q or --fail-all")
    look = look_at(settings(store=store).the_store())
    names = list(look.flow.processors) if fail_all else given
    found = suppose(look, names)
    if wants_json:
        as_json(found)
        return
    with Page() as page:
        who = "everything" if fail_all else ", ".join(found.failed)
        page.title(f"If {who} failed now", f"{found.flow}  {found.store}")
        show(page, found)
        page.space()
        page.line(
            (
                "What was done since the last checkpoints and is not durable is done again, too.",
                FAINT,
            ),
            indent=0,
        )


def show(page: Page, found: Any, moved: Collection[str] | None = None) -> None:
    """Lays out fates, inputs and logs. A plan has them too; it says who is ``moved`` by it."""
    from falkirk.inspection.words import several, size

    page.space()
    page.table(
        ("processor", "", "done again", "stored of it"),
        [
            (
                strong(each.processor),
                outcome(each, moved is None or each.processor in moved),
                span(each.undone) or faint("–"),
                size(each.bytes) if each.bytes else faint("–"),
            )
            for each in found.fates
        ],
        right=("stored of it",),
    )
    if found.reread:
        page.heading("Read again")
    for each in found.reread:
        page.line(
            (each.input, "bold"),
            f"  {span(each.epochs)}",
            (f", after{shown_position(each.after) or ' the start'}", FAINT),
            (f" up to{shown_position(each.up_to)}", FAINT),
        )
    if found.resent:
        page.heading("Sent again from logs")
    for each in found.resent:
        page.line((each.edge, "bold"), f"  {several(each.messages, 'message')}, {size(each.bytes)}")


def outcome(fate: Any, moves: bool) -> Any:
    """What becomes of a processor, in a few words."""
    from rich.text import Text

    if fate.keeps_all:
        return Text("keeps everything", GOOD)
    if not moves:
        return Text(f"stays at {fate.goes_to.words}", GOOD)
    words = "starts from nothing" if fate.goes_to.words == "nothing" else f"to {fate.goes_to.words}"
    if fate.failed:
        return Text.assemble(
            ("fails, ", BAD), ("restored " + words if "to " in words else words, "")
        )
    return Text(f"goes back {words}" if "to " in words else words, ODD)


def span(times: Any) -> str:
    """Some times, shortened: ``epoch 5 to epoch 9``."""
    if not times:
        return ""
    if len(times) == 1:
        return str(times[0])
    return f"{times[0]} to {times[-1]}"

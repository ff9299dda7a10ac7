"""``falkirk explain``: why a processor's low-watermark is what it is."""

from itertools import pairwise
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import FAINT, ODD, Page, as_json, faint, strong
from falkirk.cli.settings import settings


@click.command(short_help="Say why low-watermarks are what they are.")
@click.argument("processor", required=False)
@store_option
@json_option
def explain(processor: str | None, store: str | None, wants_json: bool) -> None:
    """Say why PROCESSOR, or everybody, would go back as far as it would.

    Root causes come first: who stands at the newest checkpoint that it has, and thereby holds
    others down. What follows from them comes after that.
    """
    from falkirk.inspection.causes import Causes
    from falkirk.inspection.look import look_at
    from falkirk.inspection.supposing import named

    look = look_at(settings(store=store).the_store())
    chosen = named(look, [processor]) if processor else list(look.flow.processors)
    causes = Causes(look)
    reasonings = [causes.reasoning(p) for p in chosen]
    roots = causes.roots()
    if processor:
        wanted = {*reasonings[0].roots, processor}
        roots = [root for root in roots if root.processor in wanted]
    if wants_json:
        as_json(
            {
                "flow": look.name,
                "store": look.place,
                "roots": dicts(roots),
                "processors": dicts(reasonings),
            }
        )
        return
    with Page() as page:
        page.title(look.name, look.place)
        if processor:
            show_one(page, reasonings[0], causes)
        else:
            show_all(page, roots, reasonings)


def dicts(values: list[Any]) -> list[dict[str, Any]]:
    """Answers as plain values."""
    from dataclasses import asdict

    return [asdict(value) for value in values]


def show_all(page: Page, roots: list[Any], reasonings: list[Any]) -> None:
    """Root causes, then everybody."""
    page.heading("Root causes")
    if not roots:
        page.line("Nobody is held down: everybody may keep all that it has saved.")
    for root in roots:
        page.line((root.processor, "bold"), f"  {root.words}", (where(root.location), FAINT))
        page.line(("holds down ", FAINT), ", ".join(root.holds), indent=4)
    page.heading("Everybody")
    page.table(
        ("processor", "would go back to", "has saved", "because of"),
        [
            (
                strong(each.processor),
                each.stands.words,
                each.saved.words if each.saved.words != "nothing" else faint("–"),
                ", ".join(each.roots) or faint("its own newest checkpoint"),
            )
            for each in reasonings
        ],
    )
    page.space()
    page.line(("`falkirk explain PROCESSOR` says it step by step", FAINT), indent=0)


def show_one(page: Page, reasoning: Any, causes: Any) -> None:
    """One processor, step by step to the root."""
    page.heading(f"{reasoning.processor} stands at {reasoning.stands.words}")
    page.line(f"It has saved {reasoning.saved.words}", (f"  {reasoning.policy}", FAINT))
    if not reasoning.causes:
        page.line("Nobody holds it down: it is at the newest checkpoint that it has.")
        return
    page.heading("Root cause" if len(reasoning.roots) == 1 else "Root causes")
    for name in reasoning.roots:
        root = causes.root(name, [])
        page.line((name, "bold"), f"  {root.words}", (where(root.location), FAINT))
    page.heading("What follows from it")
    steps = list(reasoning.way)
    for step, by in reversed(list(pairwise(steps))):
        found = [causes.cause(v) for v in causes.violations[step]]
        for cause in [each for each in found if each.by == by][:1]:
            page.line((f"{step} ← {by}", ODD), ("  " + cause.section, FAINT))
            page.line(cause.words, indent=4)
    direct = [cause for cause in reasoning.causes if steps[1:2] != [cause.by]]
    if direct:
        page.heading("Also in its way")
        for cause in direct:
            page.line(cause.words, ("  " + cause.section, FAINT))


def where(location: str) -> str:
    """A place in the code at the end of a line."""
    return f"  {location}" if location else ""

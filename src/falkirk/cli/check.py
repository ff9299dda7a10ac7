"""``falkirk check``: what a flow promises and what is odd about it, before it runs."""

from typing import Any

import click
from rich.text import Text

from falkirk.cli.apps import chosen_flow
from falkirk.cli.common import app_argument, flow_option, json_option
from falkirk.cli.page import BAD, FAINT, GOOD, ODD, Page, as_json, faint, strong
from falkirk.cli.settings import settings

FOUND = 1
"""The exit status when something is wrong with what was looked at."""

STYLES = {"error": BAD, "warning": ODD, "note": "cyan"}


@click.command(short_help="Say what a flow promises, and what is odd about it.")
@app_argument
@flow_option
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@json_option
def check(app: str | None, flow: str | None, strict: bool, wants_json: bool) -> None:
    """Look at the flow in APP without running it.

    What every output really guarantees and because of whom, policies that do not go together or
    help nobody, state that grows for ever, what another policy would cost and save by measured
    facts, and who does how much again when somebody fails.

    Exit status 1 if there is an error, with --strict also if there is a warning.
    """
    from falkirk.inspection.checking import check_flow

    given = settings(app, flow=flow)
    found = check_flow(chosen_flow(given.the_app(), given.flow).build())
    if wants_json:
        as_json(found)
    else:
        with Page() as page:
            show(page, found)
    bad = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in bad for finding in found.findings):
        raise SystemExit(FOUND)


def show(page: Page, found: Any) -> None:
    """Lays the answer out."""
    from falkirk.inspection.words import several

    page.title(found.flow)
    page.heading("What outputs guarantee")
    for each in found.guarantees:
        style = GOOD if each.promise == "exactly once" else ODD
        page.line((each.output, "bold"), "  ", (each.promise, style), (f"  {each.because}", FAINT))
    if not found.guarantees:
        page.line(("there are none", FAINT))
    page.heading("Findings")
    for each in found.findings:
        page.line(
            (each.severity, STYLES[each.severity]),
            (f" {each.code} ", FAINT),
            (each.processor, "bold"),
            f"{': ' if each.processor else ''}{each.words}",
            (f"  {each.location}", FAINT),
        )
        page.line((each.next, FAINT), indent=4)
    if not found.findings:
        page.line(("none", GOOD))
    if found.advice:
        page.heading("What policies cost")
        for each in found.advice:
            page.line((each.processor, "bold"), f": {each.words}", (f"  {each.location}", FAINT))
        page.line((found.basis, FAINT))
    page.heading("If one of them fails, at the worst moment")
    page.table(
        ("fails", "policy", "it does again", "others that go back: epochs"),
        [
            (strong(each.processor), faint(each.policy), own(each), others(each, len(found.blasts)))
            for each in found.blasts
        ],
    )
    page.space()
    counts = [
        several(n, kind)
        for kind in STYLES
        if (n := sum(f.severity == kind for f in found.findings))
    ]
    page.line(", ".join(counts) or "nothing odd", indent=0)


def own(blast: Any) -> Any:
    """What the failed processor does again itself."""
    from falkirk.inspection.words import several

    mine = [each.epochs for each in blast.setbacks if each.processor == blast.processor]
    return several(mine[0], "epoch") if mine else faint("nothing")


def others(blast: Any, everybody: int) -> Any:
    """Who else does how much again; those that do the same are named together."""
    rest = [each for each in blast.setbacks if each.processor != blast.processor]
    if not rest:
        return Text("nobody", GOOD)
    groups: dict[int, list[str]] = {}
    for each in rest:
        groups.setdefault(each.epochs, []).append(each.processor)
    return "; ".join(
        f"{'all others' if len(names) == everybody - 1 > 1 else ', '.join(names)}: {epochs}"
        for epochs, names in sorted(groups.items())
    )

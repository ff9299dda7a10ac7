"""``falkirk rollback``: a person's repair, by a plan that is made first and kept to."""

import sys
from pathlib import Path
from typing import Any

import click

from falkirk.cli.common import json_option, store_option
from falkirk.cli.page import FAINT, GOOD, Page, as_json
from falkirk.cli.settings import settings
from falkirk.core.errors import ConfigurationError

STALE = 3
"""The exit status when the store has changed since a plan was made."""


@click.command(short_help="Put a stopped flow back to an earlier time.")
@click.option(
    "--to",
    "targets",
    multiple=True,
    metavar="P@TIME",
    help="Keep no more of P than up to TIME; repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Make the plan, show it, and change nothing.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the plan to a file, and change nothing.",
)
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Carry out exactly this saved plan.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--reason", help="Why: it is kept with the repair, see `falkirk audit`.")
@store_option
@json_option
def rollback(
    targets: tuple[str, ...],
    dry_run: bool,
    save: Path | None,
    plan: Path | None,
    yes: bool,
    reason: str | None,
    store: str | None,
    wants_json: bool,
) -> None:
    """Put a stopped flow back to an earlier time, so that the next run goes on from there.

    TIME is an epoch (counts@4), an epoch and a round in a loop (loop@4.2), the number of a message
    where they are numbered, or `start`; it is kept itself. Everybody else goes back just as far as
    it must. What was released or acknowledged is never undone: that is refused.

    Exit status 3 if the store has changed since the plan was made; nothing was done then.
    """
    from falkirk.inspection.look import look, opened
    from falkirk.inspection.repair import StalePlanError, apply_plan, plan_rollback, read_plan
    from falkirk.inspection.times import read_bound

    if bool(targets) == bool(plan):
        raise click.UsageError("say where to go by --to P@TIME, or give a plan by --plan FILE")
    with opened(settings(store=store).the_store()) as there:
        if plan is not None:
            chosen = read_plan(plan.read_text("utf-8"), str(plan))
        else:
            seen = look(there)
            bounds = dict(read_bound(seen.flow.graph, target) for target in targets)
            chosen = plan_rollback(seen, bounds)
        if save is not None:
            save.write_text(chosen.text(), "utf-8")
        if not chosen.frontiers or dry_run or save is not None:
            say(chosen, wants_json, applied=False, saved=save)
            return
        if not wants_json:
            say(chosen, wants_json, applied=False, saved=None)
        agreed(yes, reason)
        try:
            apply_plan(there, chosen, reason or "")
        except StalePlanError as error:
            click.echo(f"falkirk: {error}", err=True)
            raise SystemExit(STALE) from None
        done(chosen, wants_json)


def agreed(yes: bool, reason: str | None) -> None:
    """Refuses to go on without a reason and without consent."""
    if not reason:
        raise ConfigurationError("say why by --reason: it is kept with the repair")
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigurationError(
            "nothing was changed: say --yes, or --dry-run to see the plan only"
        )
    click.confirm("Do this?", abort=True)


def say(plan: Any, wants_json: bool, applied: bool, saved: Path | None) -> None:
    """Shows a plan."""
    if wants_json:
        from dataclasses import asdict

        as_json({**asdict(plan), "applied": applied})
        return
    from falkirk.cli.what_if import show

    with Page() as page:
        wanted = ", ".join(f"{p} to {time}" for p, time in plan.to.items())
        page.title(f"Roll back {wanted}", f"{plan.flow}  {plan.store}")
        if not plan.frontiers:
            page.line("Nothing to do: the next run begins there, or before.")
            return
        show(page, plan, plan.moves)
        if saved is not None:
            page.space()
            page.line(
                f"saved as {saved}: `falkirk rollback --plan {saved}` does exactly this", indent=0
            )


def done(plan: Any, wants_json: bool) -> None:
    """Says that it was done."""
    if wants_json:
        say(plan, wants_json, applied=True, saved=None)
        return
    with Page() as page:
        page.space()
        page.line(("done", GOOD), ("  the next run goes on from there", FAINT), indent=0)

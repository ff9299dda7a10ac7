"""``falkirk rollback``: a person's repair, by a plan that is made first and kept to."""

import sys
from pathlib import Path
from typing import Any

import click

from falkirk.cli.common import json_option, store_option, timeout_option
from falkirk.cli.page import FAINT, GOOD, ODD, Page, as_json
from falkirk.cli.settings import settings
from falkirk.core.errors import ConfigurationError

STALE = 3
"""The exit status when the store has changed since a plan was made."""


@click.command(short_help="Put a flow back to an earlier time, running or not.")
@click.option(
    "--to",
    "targets",
    multiple=True,
    metavar="P@TIME",
    help="Keep no more of P than up to TIME, or up to the pin of that name; repeatable.",
)
@click.option("--to-pin", "pin", metavar="NAME", help="Put everything back to where a pin is.")
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
@timeout_option
@store_option
@json_option
def rollback(
    targets: tuple[str, ...],
    pin: str | None,
    dry_run: bool,
    save: Path | None,
    plan: Path | None,
    yes: bool,
    reason: str | None,
    timeout: float,
    store: str | None,
    wants_json: bool,
) -> None:
    """Put a flow back to an earlier time, so that it goes on from there.

    A run that is there is asked to go back by itself, and those who need not go back go on; else
    the next run begins there.

    TIME is an epoch (counts@4), an epoch and a round in a loop (loop@4.2), the number of a message
    where they are numbered, or `start`; it is kept itself. Everybody else goes back just as far as
    it must. What was released or acknowledged is never undone: that is refused.

    Exit status 3 if the store has changed since the plan was made; nothing was done then.
    """
    from falkirk.inspection.asking import StalePlanError
    from falkirk.inspection.carrying import carry_out
    from falkirk.inspection.look import look, opened
    from falkirk.inspection.pins import read_bounds, the_pin
    from falkirk.inspection.repair import bounds_of, plan_rollback, read_plan

    if [bool(targets), bool(pin), bool(plan)].count(True) != 1:
        raise click.UsageError(
            "say where to go by --to P@TIME, by --to-pin NAME, or give a plan by --plan FILE"
        )
    with opened(settings(store=store).the_store()) as there:
        if plan is not None:
            chosen = read_plan(plan_text(plan), str(plan))
        else:
            seen = look(there)
            bounds = bounds_of(seen, the_pin(seen, pin)) if pin else read_bounds(seen, targets)
            chosen = plan_rollback(seen, bounds, pin or "")
        if save is not None:
            write_plan(save, chosen.text())
        if not chosen.frontiers or dry_run or save is not None:
            say(chosen, wants_json, applied=False, saved=save)
            return
        if not wants_json:
            say(chosen, wants_json, applied=False, saved=None)
        agreed(yes, reason)
        try:
            reached = carry_out(there, chosen, reason or "", timeout)
        except StalePlanError as error:
            click.echo(f"falkirk: {error}", err=True)
            raise SystemExit(STALE) from None
        done(chosen, reached, wants_json)


def plan_text(path: Path) -> str:
    """What a file says, which should be a plan."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(
            f"{path} is no plan of `falkirk rollback --save`: it is not UTF-8 text"
        ) from None


def write_plan(path: Path, text: str) -> None:
    """Saves a plan."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"the plan cannot be saved as {path}: {error.strerror}; choose another place"
        ) from None


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
        if plan.running:
            page.line("The flow is running: so far it goes back at most, and who can stays.")
        if plan.undo:
            shown = ", ".join(plan.undo)
            page.line((f"Outputs that take back what they have shown: {shown}", ODD))
        if plan.pins:
            page.line((f"Pins that go with what is undone: {', '.join(plan.pins)}", ODD))
        show(page, plan, plan.moves)
        if saved is not None:
            page.space()
            page.line(
                f"saved as {saved}: `falkirk rollback --plan {saved}` does exactly this", indent=0
            )


def done(plan: Any, reached: Any, wants_json: bool) -> None:
    """Says that it was done; ``reached`` are the frontiers that a run has gone back to."""
    if wants_json:
        say(plan, wants_json, applied=True, saved=None)
        return
    from falkirk.inspection.words import until
    from falkirk.store.codec import frontier_from_json

    with Page() as page:
        page.space()
        if not plan.running:
            page.line(("done", GOOD), ("  the next run goes on from there", FAINT), indent=0)
            return
        page.line(("done", GOOD), ("  the run goes on from there", FAINT), indent=0)
        for p, frontier in reached.items():
            page.line(f"{p} went back to {until(frontier_from_json(frontier))}")

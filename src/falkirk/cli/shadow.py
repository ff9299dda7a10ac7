"""``falkirk shadow``: a changed flow beside the live one, compared with it, then in its place."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from falkirk.cli.apps import chosen_flow
from falkirk.cli.common import app_argument, flow_option, json_option, store_option
from falkirk.cli.page import FAINT, GOOD, Page, as_json, faint, strong
from falkirk.cli.rollback import agreed
from falkirk.cli.run import MASTER, settings_of
from falkirk.cli.settings import settings
from falkirk.cli.shadow_pages import say_comparison, say_promotion, say_prospect
from falkirk.core.errors import ConfigurationError

DIFFERS = 1
"""The exit status of a comparison that found a difference."""

shadow_option = click.option(
    "--store", "place", required=True, metavar="SHADOW", help="Folder of the shadow."
)
reason_option = click.option("--reason", help="Why: it is kept in the stores, see `falkirk audit`.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
dry_option = click.option("--dry-run", is_flag=True, help="Say what would be done; do nothing.")


@click.group(short_help="Try a changed flow beside the live one.")
def shadow() -> None:
    """Try a changed flow beside the live one, on a store of its own.

    `start` forks the live store and runs the changed flow along the live one's epochs; its sinks
    are not touched, what they would show is recorded. `compare` says what differs. `promote` puts
    the shadow in the place of the live store.
    """


@shadow.command(short_help="Fork the live store and run the changed flow.")
@app_argument
@store_option
@click.option("--shadow", "place", required=True, metavar="DIR", help="Folder for the shadow.")
@click.option("--at", "targets", multiple=True, metavar="P@TIME", help="Keep no more of P.")
@click.option("--pin", metavar="NAME", help="Fork at a pin.")
@click.option("--keep", multiple=True, metavar="P", help="P changed, and keeps its state.")
@click.option("--changed", multiple=True, metavar="P", help="P starts again in any case.")
@click.option("--reread", multiple=True, metavar="INPUT", help="INPUT can be read again.")
@click.option("--own-sink", multiple=True, metavar="OUTPUT", help="OUTPUT writes as APP says.")
@click.option("--once", is_flag=True, help="Stop when level with the live flow.")
@click.option("--fork-only", is_flag=True, help="Make the shadow, and do not run it.")
@dry_option
@click.option("--reason", default="", help="Why: it is kept in the shadow, see `falkirk audit`.")
@click.option("--master", help=f"Spark master. [FALKIRK_MASTER, falkirk.toml, {MASTER}]")
@flow_option
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting; repeatable.")
@json_option
def start(
    app: str | None,
    store: str | None,
    place: str,
    targets: tuple[str, ...],
    pin: str | None,
    keep: tuple[str, ...],
    changed: tuple[str, ...],
    reread: tuple[str, ...],
    own_sink: tuple[str, ...],
    once: bool,
    fork_only: bool,
    dry_run: bool,
    reason: str,
    master: str | None,
    flow: str | None,
    conf: tuple[str, ...],
    wants_json: bool,
) -> None:
    """Fork the live store at DIR and run the changed flow in APP there, beside the live one.

    The fork is made at the low-watermarks, or further back by --at or --pin. What changed starts
    from nothing, and the solver decides what has to be done again for that; --dry-run says so.
    A shadow that is there goes on where it stopped. It stops by itself when it is level with a live
    flow that does not run.
    """
    from falkirk.inspection.shadow.starting import Wish, prospect_of, start_shadow

    given = settings(app, store=store, master=master, flow=flow)
    chosen = chosen_flow(given.the_app(), given.flow)
    blueprint, live = chosen.build(), given.the_store()
    wish = Wish(targets, pin, names(keep), names(changed), names(reread), names(own_sink))
    if not (Path(place) / "metadata.sqlite").is_file():
        if dry_run:
            say_prospect(prospect_of(blueprint, live, place, wish), wants_json, made=False)
            return
        found = start_shadow(blueprint, live, place, wish, reason)
        if not (wants_json and not fork_only):
            say_prospect(found, wants_json, made=True)
    elif dry_run or fork_only or wish != Wish():
        raise ConfigurationError(
            f"there is a shadow at {place} already: without other options it goes on; drop it to"
            " make another one"
        )
    if fork_only:
        return
    from falkirk.inspection.shadow.running import run_shadow

    report = run_shadow(
        chosen,
        place,
        live=live,
        once=once,
        master=given.master or MASTER,
        settings={**given.spark, **settings_of(conf)},
        options=given.the_options(),
    )
    if wants_json:
        as_json({"shadow": place, "recoveries": report.recovered, "retries": report.retries})
        return
    for line in report.summary():
        click.echo(line)


def names(given: tuple[str, ...]) -> tuple[str, ...]:
    """Names that were given one by one, or with commas.

    >>> names(("a,b", "c"))
    ('a', 'b', 'c')
    """
    return tuple(name.strip() for each in given for name in each.split(",") if name.strip())


@shadow.command("list", short_help="List the shadows of a store.")
@store_option
@click.option(
    "--in",
    "among",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the shadows. [the one that has the store]",
)
@json_option
def list_shadows(store: str | None, among: Path | None, wants_json: bool) -> None:
    """List the shadows of the live store that are in the same folder as it."""
    from falkirk.inspection.look import opened
    from falkirk.inspection.shadow.facts import shadows

    live = settings(store=store).the_store()
    with opened(live):  # a store that is not there has no shadows, but nobody means that
        pass
    found = list(shadows(live, among))
    if wants_json:
        as_json({"live": live, "shadows": [{"shadow": at, **asdict(each)} for at, each in found]})
        return
    with Page() as page:
        page.title(f"Shadows of {live}")
        if not found:
            page.line("there are none")
            return
        page.table(
            ("shadow", "made", "started from nothing", ""),
            [
                (
                    strong(at),
                    datetime.fromtimestamp(each.made, UTC).isoformat(" ", "seconds"),
                    ", ".join(each.again) or faint("–"),
                    each.state,
                )
                for at, each in found
            ],
        )


@shadow.command(short_help="Say what differs from the live flow.")
@shadow_option
@click.option("--live", multiple=True, metavar="OUTPUT=FOLDER", help="Where live output is.")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many rows are shown.",
)
@json_option
def compare(place: str, live: tuple[str, ...], sample: int, wants_json: bool) -> None:
    """Compare what the shadow would have shown with what the live flow has, time by time.

    Rows are compared as bags, in any order. Exit status 1 if some row is on one side only.
    """
    from falkirk.inspection.shadow.comparing import compare as compared

    folders = {}
    for each in live:
        name, equals, folder = each.partition("=")
        if not equals:
            raise ConfigurationError(f"--live {each!r} is not OUTPUT=FOLDER")
        folders[name] = folder
    found = compared(place, folders, sample)
    if wants_json:
        as_json({**asdict(found), "differs": found.differs})
    else:
        say_comparison(found)
    if found.differs:
        raise SystemExit(DIFFERS)


@shadow.command(short_help="Put the shadow in the place of the live store.")
@shadow_option
@click.option("--aside", metavar="DIR", help="Where the live store goes. [beside it, with a date]")
@dry_option
@yes_option
@reason_option
@json_option
def promote(
    place: str, aside: str | None, dry_run: bool, yes: bool, reason: str | None, wants_json: bool
) -> None:
    """Put the shadow in the place of the live store, which is set aside and not deleted.

    Nobody may run on either, and the shadow must have come as far as the live outputs. They go on
    after what the live flow has shown: nothing is shown twice, and nothing is missing.
    """
    from falkirk.inspection.shadow import promoting

    found = promoting.plan_promotion(place, aside)
    if not wants_json or dry_run:
        say_promotion(found, wants_json, done=False)
    if dry_run:
        return
    agreed(yes, reason)
    done = promoting.promote(place, reason or "", found.aside)
    if wants_json:
        say_promotion(done, wants_json, done=True)
        return
    with Page() as page:
        page.space()
        page.line(("done", GOOD), (f"  run the changed flow on {done.live}", FAINT), indent=0)


@shadow.command(short_help="Delete a shadow.")
@shadow_option
@dry_option
@yes_option
@reason_option
@json_option
def drop(place: str, dry_run: bool, yes: bool, reason: str | None, wants_json: bool) -> None:
    """Delete a shadow that nobody runs; the live store is left as it is."""
    from falkirk.inspection.shadow import dropping

    found = dropping.droppable(place)
    if not dry_run:
        agreed(yes, reason)
        dropping.drop(place, reason or "")
    if wants_json:
        as_json({"shadow": place, "live": found.live, "dropped": not dry_run})
        return
    click.echo(f"{place} {'would be' if dry_run else 'is'} dropped; {found.live} is as it was")

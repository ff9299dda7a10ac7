"""Options that several commands take."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

store_option = click.option(
    "--store", help="Folder or address of the store. [FALKIRK_STORE, falkirk.toml]"
)
flow_option = click.option("--flow", help="Which flow of APP, if it has several.")
json_option = click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
always_json_option = click.option(
    "--json", is_flag=True, expose_value=False, help="Print JSON, which this always does."
)
port_type = click.IntRange(0, 65535)
timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a run to answer.",
)
app_argument = click.argument("app", required=False, type=click.Path(dir_okay=False))

"""Options that several commands take."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

store_option = click.option(
    "--store", help="Folder or postgresql:// URL of the store. [FALKIRK_STORE, falkirk.toml]"
)
flow_option = click.option("--flow", help="Which flow of APP, if it has several.")
json_option = click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
app_argument = click.argument("app", required=False, type=click.Path(dir_okay=False))

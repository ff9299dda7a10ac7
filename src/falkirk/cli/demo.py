"""``falkirk demo``."""

import click


@click.command()
def demo() -> None:
    """Solve the examples of Figure 7 and draw their frontiers."""

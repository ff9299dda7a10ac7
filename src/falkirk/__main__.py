"""``python -m falkirk``: the command line."""

from falkirk.cli.main import main

main()

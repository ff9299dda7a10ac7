"""How costs grow: with epochs, with keys, with rows and with processors."""

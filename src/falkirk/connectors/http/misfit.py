"""What is wrong with a request, and where in it."""


class Misfit(Exception):
    """A value that is not what the schema says; ``place`` is where, ``problem`` what is wrong."""

    def __init__(self, place: str, problem: str) -> None:
        """A value at ``place``."""
        super().__init__(f"{place or 'the body'}: {problem}")
        self.place, self.problem = place, problem

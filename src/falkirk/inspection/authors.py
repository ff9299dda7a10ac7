"""Who wrote what runs at a processor: falkirk answers for its own code alone."""


def is_falkirks(operator: object) -> bool:
    """Whether the class of an operator, a source or a sink comes with falkirk.

    >>> from falkirk.dataflow.processor import Processor
    >>> is_falkirks(Processor()), is_falkirks(type("Own", (), {"__module__": "app"})())
    (True, False)
    """
    return type(operator).__module__.partition(".")[0] == "falkirk"

"""A flow's description as plain values: what a store compares before it lets a flow continue."""

from typing import Any

from falkirk.core.domain import Sequence, Structured
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.definition import definition
from falkirk.dataflow.explanation import policy_text

FORMAT = 1
"""The version of the description."""


def describe(blueprint: Blueprint) -> dict[str, Any]:
    """Everything that must not change while state of the flow is stored, JSON-able.

    Intervals, limits, the regions of snapshots and places in the code may change; the same name
    with another kind, other times or another regime is another flow.
    """
    flow = blueprint.flow
    return {
        "format": FORMAT,
        "name": blueprint.name,
        "processors": {
            name: {
                "kind": node.kind,
                "role": node.role.value,
                "domain": domain_value(node.domain),
                "regime": node.policy.regime.value,
                "logs": sorted(flow.processors[name].policy.log),
                "opaque": flow.processors[name].opaque,
            }
            for name, node in blueprint.nodes.items()
        },
        "edges": {
            edge.name: {
                "source": edge.source,
                "target": edge.target,
                "port": blueprint.ports[edge.name],
                "projection": edge.projection.name,
            }
            for edge in flow.graph.edges.values()
        },
        "latest": [
            {"slow": bridge.slow, "versions": bridge.versions, "fast": bridge.fast}
            for bridge in flow.latest.values()
        ],
    }


def about(blueprint: Blueprint, embedded: bool) -> dict[str, Any]:
    """What may change from run to run, for those who look at a store without the user's code.

    ``embedded`` says that the run releases by a monitor of its own.
    """
    return {
        "embedded": embedded,
        "processors": {
            name: {
                "policy": policy_text(node.policy),
                "location": node.location,
                "definition": definition(node.operator),
                "undoes": getattr(node.operator, "undo", None) is not None,
            }
            for name, node in blueprint.nodes.items()
        },
    }


def domain_value(domain: Structured | Sequence) -> dict[str, Any]:
    """The times of a processor.

    >>> domain_value(Structured(1)), domain_value(Sequence())
    ({'depth': 1, 'order': 'lex'}, {'kind': 'sequence'})
    """
    if isinstance(domain, Sequence):
        return {"kind": "sequence"}
    return {"depth": domain.depth, "order": domain.order.value}

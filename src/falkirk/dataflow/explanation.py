"""A flow as readable text: who runs, how each is protected, and where plans are cut."""

from falkirk.core.machine.flow import Role
from falkirk.core.policy import Policy, Regime, snapshot
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.node import Node, Versions


def explain(blueprint: Blueprint) -> str:
    """The text."""
    dirty = tainted(blueprint)
    lines = [f"flow {blueprint.name}", ""]
    for node in blueprint.nodes.values():
        lines += paragraph(blueprint, node, node.name in dirty)
    if not blueprint.sinks:
        lines += ["", "Nothing is written: no stream ends in a sink."]
    return "\n".join(lines)


def paragraph(blueprint: Blueprint, node: Node, dirty: bool) -> list[str]:
    """What there is to say about one processor."""
    marks = "  tainted: at least once" if dirty else ""
    lines = [f"{node.name}  {node.kind}  {policy_text(node.policy)}  {node.location}{marks}"]
    if node.depth > 1:
        loops = "1 loop" if node.depth == 2 else f"{node.depth - 1} loops"
        lines.append(f"    in {loops}, times in {node.order.value} order")
    if node.numbered:
        lines.append("    one message at a time, in order")
    if isinstance(node.operator, Versions):
        lines.append(f"    versions of {node.operator.slow} at the epochs of {node.operator.fast}")
    if node.role is Role.OUTPUT and (summary := getattr(node.operator, "summary", "")):
        lines.append(f"    {summary}")
    for edge in blueprint.flow.graph.inputs(node.name):
        crossing = way(blueprint.nodes[edge.source], node, blueprint.ports[edge.name])
        how = "" if crossing == "same" else f" ({crossing})"
        lines.append(f"    port {blueprint.ports[edge.name]} from {edge.source}{how}")
    lines += [f"    plan is cut: {reason}" for reason in cuts(blueprint, node)]
    plan = fused(blueprint, node)
    return [*lines, f"    one job: {plan}"] if plan else lines


def fused(blueprint: Blueprint, node: Node) -> str:
    """The plan that is evaluated at ``node``, if it has others in it; what is in brackets is done.

    Whoever only extends a plan has one receiver, so behind a cut there is a tree.
    """
    if not cuts(blueprint, node):
        return ""
    seen = {node.name}

    def leading_to(name: ProcessorId) -> str:
        steps = [str(name)]
        while len(edges := blueprint.flow.graph.inputs(name)) == 1:
            name = edges[0].source
            if name in seen or cuts(blueprint, blueprint.nodes[name]):
                return " → ".join([f"[{name}]", *reversed(steps)])
            seen.add(name)
            steps.append(str(name))
        branches = [branch(edge.source) for edge in edges]
        return " → ".join([*([f"({', '.join(branches)})"] if branches else []), *reversed(steps)])

    def branch(name: ProcessorId) -> str:
        if name in seen or cuts(blueprint, blueprint.nodes[name]):
            return f"[{name}]"
        seen.add(name)
        return leading_to(name)

    text = leading_to(node.name)
    return text if len(seen) > 1 else ""


def way(source: Node, target: Node, port: int) -> str:
    """What the edge to a port does with times."""
    if source.numbered and not target.numbered:
        return "windows"
    if target.numbered and not source.numbered:
        return "numbered"
    return target.inputs[port].crossing


def policy_text(policy: Policy) -> str:
    """A policy as it is written."""
    when = ""
    if policy.when is not None:
        when = "when=…"
    elif policy.seconds is not None:
        when = f"seconds={policy.seconds:g}"
    elif policy.regime in (Regime.LAZY, Regime.SNAPSHOT):
        when = f"every={policy.every}"
    if policy.region and policy.region != snapshot().region:
        when += f", region={policy.region!r}"
    logs = "".join(f" logging {edge}" for edge in sorted(policy.log))
    return f"{policy.regime.value.replace('-', '_')}({when}){logs}"


def cuts(blueprint: Blueprint, node: Node) -> list[str]:
    """Why what ``node`` sends is evaluated there and not fused with what follows."""
    leaving = blueprint.flow.graph.outputs(node.name)
    if node.role is Role.OUTPUT:
        return ["an output stages its rows"]
    reasons = []
    if node.processor is not None and not node.processor.inline:
        reasons.append(f"{node.kind} evaluates")
    policy = blueprint.flow.processors[node.name].policy
    logged = [edge.name for edge in leaving if policy.logs(edge.name)]
    if logged:
        reasons.append(f"{', '.join(logged)} logged")
    if node.policy.regime is Regime.SNAPSHOT and leaving:
        reasons.append("a snapshot has what is under way")
    shared = [len(edges) for edges in blueprint.routes[node.name] if len(edges) > 1]
    return reasons + [f"{receivers} receivers share its rows" for receivers in shared]


def tainted(blueprint: Blueprint) -> set[ProcessorId]:
    """Who is at least once: those that are declared so, and all behind them."""
    flow = blueprint.flow
    found = {name for name, node in blueprint.nodes.items() if node.policy.tainted}
    pending = list(found)
    while pending:
        name = pending.pop()
        behind = {edge.target for edge in flow.graph.outputs(name)}
        if name in flow.latest:
            behind.add(flow.latest[name].versions)
        pending += behind - found
        found |= behind
    return found

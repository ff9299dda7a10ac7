"""Random rollback problems in the exchange format, small enough for the dumb solver."""

from random import Random

DOMAINS = (
    {"kind": "epoch"},
    {"kind": "structured", "depth": 2, "order": "lex"},
    {"kind": "structured", "depth": 2, "order": "product"},
    {"kind": "sequence"},
)


def random_problem(seed: int) -> dict:
    """A problem with cycles, loops, sequence numbers, mixed domains and failures."""
    return _Maker(Random(seed)).problem()


def random_live_problem(seed: int) -> dict:
    """The same, with what stateless processors that are alive have really done.

    That is no part of the exchange format: those who read the problem take it out.
    """
    maker = _Maker(Random(seed))
    problem = maker.problem()
    for p, body in problem["processors"].items():
        if maker.any[p] and not body.get("failed"):
            body["live"] = {
                "processed": {d: maker.growing(p, 1)[0] for d in maker.incoming(p)},
                "notified": maker.growing(p, 1)[0],
                "discarded": {
                    e: maker.growing(maker.edges[e]["dst"], 1)[0] for e in maker.outgoing(p)
                },
            }
    return problem


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def problem(self) -> dict:
        rng = self.rng
        count = rng.choice((2, 3, 3, 3, 4))
        weights = rng.choice(((6, 3, 1, 2), (2, 4, 3, 1), (1, 0, 0, 3), (1, 0, 0, 0), (0, 3, 3, 0)))
        self.domains = {f"p{i}": rng.choices(DOMAINS, weights)[0] for i in range(count)}
        self.any = {p: rng.random() < 0.4 for p in self.domains}
        self.edges: dict[str, dict] = {}
        for _ in range(rng.randint(count - 1, count + 2)):
            self.add_edge()
        return {"processors": {p: self.processor(p) for p in self.domains}, "edges": self.edges}

    def add_edge(self) -> None:
        rng, names = self.rng, list(self.domains)
        s, d = rng.choice(names), rng.choice(names)
        depths = [self.depth(s), self.depth(d)]
        fitting = [] if self.any[s] else ["recorded"]
        if 0 not in depths:
            forward = names.index(s) < names.index(d)
            if depths[0] == depths[1] > 1:
                fitting += ["feedback", "feedback"]
            if forward:
                step = {0: "identity", 1: "enter", -1: "leave"}.get(depths[1] - depths[0])
                fitting += [step] * 4 if step else []
        if fitting:
            name = f"e{len(self.edges)}"
            self.edges[name] = {"src": s, "dst": d, "projection": rng.choice(fitting)}

    def depth(self, p: str) -> int:
        domain = self.domains[p]
        return 0 if domain["kind"] == "sequence" else domain.get("depth", 1)

    def incoming(self, p: str) -> list[str]:
        return [e for e, edge in self.edges.items() if edge["dst"] == p]

    def outgoing(self, p: str) -> list[str]:
        return [e for e, edge in self.edges.items() if edge["src"] == p]

    def time(self, p: str) -> list:
        counters = (0, 1, 2, "inf")
        return [self.rng.randint(0, 2)] + [
            self.rng.choice(counters) for _ in range(self.depth(p) - 1)
        ]

    def key(self, time: list) -> list:
        return [9 if c == "inf" else c for c in time]

    def growing(self, p: str, count: int) -> list:
        """``count`` frontiers of p, each containing the one before; ⊤ may come last."""
        rng = self.rng
        if self.domains[p]["kind"] == "sequence":
            columns = {e: sorted(rng.randint(0, 4) for _ in range(count)) for e in self.incoming(p)}
            found = [{e: column[i] for e, column in columns.items()} for i in range(count)]
        elif self.domains[p].get("order") == "product":
            times = [self.time(p) for _ in range(count)]
            found = [times[: i + 1] for i in range(count)]
        else:
            found = [[t] for t in sorted((self.time(p) for _ in range(count)), key=self.key)]
        if found and rng.random() < 0.3:
            found[-1] = "top"
        return ["empty" if rng.random() < 0.1 and not i else f for i, f in enumerate(found)]

    def processor(self, p: str) -> dict:
        rng = self.rng
        body: dict = {"domain": self.domains[p]}
        if rng.random() < 0.4:
            body["failed"] = True
        if self.any[p]:
            body["any_frontier"] = True
            if rng.random() < 0.9:
                complete = self.growing(p, 1)[0]
                body["complete"] = "empty" if complete == "top" else complete
            if rng.random() < 0.3:
                body["notifies"] = False
            if rng.random() < 0.4:
                body["logs"] = [e for e in self.outgoing(p) if rng.random() < 0.5]
            return body
        body["checkpoints"] = self.checkpoints(p)
        return body

    def checkpoints(self, p: str) -> list[dict]:
        rng = self.rng
        frontiers = self.distinct(p, self.growing(p, rng.randint(1, 3)))
        count = len(frontiers)
        notified = self.below(p, frontiers)
        processed = {d: self.growing(p, count) for d in self.incoming(p) if rng.random() < 0.6}
        discarded = {
            e: self.growing(self.edges[e]["dst"], count)
            if rng.random() < 0.6
            else ["empty"] * count
            for e in self.outgoing(p)
            if rng.random() < 0.7
        }
        fixed = {
            e: self.growing(self.edges[e]["dst"], count)
            for e in self.outgoing(p)
            if self.edges[e]["projection"] == "recorded"
        }
        if rng.random() < 0.15:
            for column in discarded.values():
                rng.shuffle(column)
        found = []
        for i, frontier in enumerate(frontiers):
            item: dict = {"frontier": frontier}
            if notified:
                item["notified"] = notified[i]
            for key, columns in (
                ("processed", processed),
                ("discarded", discarded),
                ("projection", fixed),
            ):
                if columns:
                    item[key] = {e: column[i] for e, column in columns.items()}
            found.append(item)
        return found

    def distinct(self, p: str, frontiers: list) -> list:
        """Non-empty frontiers, each strictly larger than the one before."""
        found: list = []
        for f in frontiers:
            if (
                f != "empty"
                and any(f)
                and self.shape(p, f) not in [self.shape(p, g) for g in found]
            ):
                found.append(f)
        return [f for f in found if not (isinstance(f, dict) and not any(f.values()))]

    def shape(self, p: str, f) -> object:
        """A canonical form of a frontier, for telling equal ones apart."""
        if f == "top":
            return "top"
        if isinstance(f, dict):
            return sorted((e, n) for e, n in f.items() if n)
        keys = {tuple(self.key(t)) for t in f}
        return sorted(
            a
            for a in keys
            if not any(a != b and all(x <= y for x, y in zip(a, b, strict=True)) for b in keys)
        )

    def below(self, p: str, frontiers: list) -> list | None:
        """N̄ for each frontier, inside it; None leaves it to the default."""
        roll = self.rng.random()
        if roll < 0.4:
            return None
        if roll < 0.6 or not frontiers:
            return ["empty"] * len(frontiers)
        first = frontiers[0]
        return [first if first != "top" else "empty"] * len(frontiers)

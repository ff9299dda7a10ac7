"""A deliberately dumb solver: explicit sets of times, every assignment tried.

It shares no code with falkirk: it reads the exchange format by itself and works on finite grids of
times, in which the largest counter ``COUNTER`` stands for ∞ and the largest epoch ``EPOCH`` occurs
in ⊤ only. Problems must keep their finite coordinates well below these.
"""

from itertools import product

EPOCH, COUNTER, NUMBER = 4, 4, 6

BEYOND = ("", 1)
Times = frozenset


class Dumb:
    """One problem. ``without`` names a constraint to leave out: the tests of the tests."""

    def __init__(self, problem: dict, without: str = "") -> None:
        self.processors, self.edges, self.without = problem["processors"], problem["edges"], without
        self.grid = {p: self._grid(p) for p in self.processors}
        self.candidates = {p: self._candidates(p) for p in self.processors}

    def largest(self) -> tuple[dict[str, Times], dict[str, Times]]:
        """The one consistent assignment that contains all others, with its f_n."""
        names = list(self.processors)
        best: tuple[dict, dict] | None = None
        consistent = []
        for frontiers in product(*(sorted(self.candidates[p], key=len) for p in names)):
            f = dict(zip(names, frontiers, strict=True))
            fn = self.consistent(f)
            if fn is not None:
                consistent.append(f)
                if best is None or sum(map(len, f.values())) >= sum(map(len, best[0].values())):
                    best = f, fn
        assert best is not None
        for f in consistent:
            assert all(f[p] <= best[0][p] for p in names), "no largest consistent assignment"
        return best

    def consistent(self, f: dict[str, Times]) -> dict[str, Times] | None:
        """The largest f_n if ``f`` satisfies every constraint of §3.5, else None."""
        for e, edge in self.edges.items():
            s, d = edge["src"], edge["dst"]
            sent = self.on(e, self.candidates[s][f[s]]["discarded"][e])
            if self.without != "discarded" and not sent <= f[d]:
                return None
            taken = self.on(e, self.candidates[d][f[d]]["processed"][e])
            if self.without != "delivered" and not taken <= self.fixed(e, f[s]):
                return None
        noted = {p: self.candidates[p][f[p]]["notified"] for p in self.processors}
        fn = dict(self.grid) if self.without == "within" else dict(f)
        while self.without != "projection":
            lower = dict(fn)
            for e, edge in self.edges.items():
                s, d = edge["src"], edge["dst"]
                others = lower[d] - self.on(e, lower[d])
                lower[d] = others | (self.on(e, lower[d]) & self.fixed(e, lower[s]))
            if lower == fn:
                break
            fn = lower
        if self.without != "notified" and not all(noted[p] <= fn[p] for p in fn):
            return None
        return fn

    # Times and orders.

    def _grid(self, p: str) -> Times:
        domain = self.processors[p]["domain"]
        if domain["kind"] == "sequence":
            incoming = [e for e, edge in self.edges.items() if edge["dst"] == p]
            beyond = {BEYOND}  # a time that is in ⊤ only
            return Times((e, n) for e in incoming for n in range(1, NUMBER + 1)) | beyond
        depth = domain.get("depth", 1)
        return Times(product(range(EPOCH + 1), *[range(COUNTER + 1)] * (depth - 1)))

    def leq(self, p: str, a: tuple, b: tuple) -> bool:
        domain = self.processors[p]["domain"]
        if domain["kind"] == "sequence":
            return a[0] == b[0] and a[1] <= b[1]
        if domain.get("order") == "product":
            return all(x <= y for x, y in zip(a, b, strict=True))
        return a <= b

    def closure(self, p: str, times) -> Times:
        chosen = list(times)
        return Times(x for x in self.grid[p] if any(self.leq(p, x, t) for t in chosen))

    def interior(self, p: str, times) -> Times:
        chosen = Times(times)
        outside = self.grid[p] - chosen
        return Times(x for x in chosen if not any(self.leq(p, y, x) for y in outside))

    def on(self, e: str, times: Times) -> Times:
        """The part of a frontier of e's target that speaks of e."""
        if self.processors[self.edges[e]["dst"]]["domain"]["kind"] == "sequence":
            return Times(t for t in times if t[0] == e)
        return times

    def real(self, p: str, times: Times) -> Times:
        """``times`` without the stand-in for ⊤, where there are other times to tell ⊤ by."""
        return times - {BEYOND} if len(self.grid[p]) > 1 else times

    def parse(self, p: str, value) -> Times:
        if value == "empty":
            return Times()
        if value == "top":
            return self.grid[p]
        if isinstance(value, dict):
            return Times(
                (e, n) for e, top in value.items() for n in range(1, self._cap(top, NUMBER) + 1)
            )
        return self.closure(p, [tuple(self._cap(c, COUNTER) for c in t) for t in value])

    @staticmethod
    def _cap(value, cap: int) -> int:
        return cap if value == "inf" else value

    # Projections, as DESIGN's set definitions.

    def fixed(self, e: str, f: Times) -> Times:
        edge = self.edges[e]
        s, d, kind = edge["src"], edge["dst"], edge["projection"]
        if kind == "recorded":
            inside = [g for g in self.candidates[s] if g <= f]
            listed = max(inside, key=len, default=Times())
            return self.on(
                e, self.candidates[s].get(listed, {}).get("projection", {}).get(e, Times())
            )
        if f == self.grid[s]:
            return self.grid[d]
        if kind == "identity":
            times = f
        elif kind == "enter":
            times = {(*t, c) for t in f for c in range(COUNTER + 1)}
        elif kind == "leave":
            times = {t[:-1] for t in f if all((*t[:-1], c) in f for c in range(COUNTER + 1))}
        else:
            later = {(*t[:-1], min(t[-1] + 1, COUNTER)) for t in f}
            times = {t for t in self.grid[s] for u in later if all(map(int.__le__, t, u))}
        return self.interior(d, times)

    def image(self, e: str, f: Times) -> Times:
        edge = self.edges[e]
        s, d, kind = edge["src"], edge["dst"], edge["projection"]
        if f == self.grid[s]:
            return self.grid[d]
        if kind == "recorded":
            return self.fixed(e, f)
        send = {
            "identity": lambda t: t,
            "enter": lambda t: (*t, 0),
            "leave": lambda t: t[:-1],
            "feedback": lambda t: (*t[:-1], min(t[-1] + 1, COUNTER)),
        }[kind]
        return self.closure(d, map(send, f))

    # What each processor can restore.

    def _candidates(self, p: str) -> dict[Times, dict]:
        body = self.processors[p]
        ins = [e for e, edge in self.edges.items() if edge["dst"] == p]
        outs = [e for e, edge in self.edges.items() if edge["src"] == p]
        if body.get("any_frontier"):
            complete = self.parse(p, body.get("complete", "empty"))
            if self.without == "undelivered":
                complete = self._one_more(p, complete)
            frontiers = self._downsets(p, complete)
            if not body.get("failed"):
                frontiers.append(self.grid[p])
            sequence = body["domain"]["kind"] == "sequence"
            silent = sequence or not body.get("notifies", True)
            logs = body.get("logs", [])
            found = {
                f: {
                    "processed": dict.fromkeys(ins, f),
                    "notified": Times() if silent else f,
                    "discarded": {e: Times() if e in logs else self.image(e, f) for e in outs},
                }
                for f in frontiers
            }
            if "live" in body and not body.get("failed"):
                found[self.grid[p]] = self._live(p, body["live"], silent)
            return found
        found = {}
        for item in [{"frontier": "empty"}, *body.get("checkpoints", [])]:
            f = self.parse(p, item["frontier"])
            if f == self.grid[p] and body.get("failed"):
                continue
            recorded = {
                e: self.parse(self.edges[e]["dst"], v)
                for e, v in item.get("projection", {}).items()
            }
            discarded = {}
            for e in outs:
                if e in item.get("discarded", {}):
                    discarded[e] = self.parse(self.edges[e]["dst"], item["discarded"][e])
                elif self.edges[e]["projection"] == "recorded":
                    discarded[e] = recorded.get(e, Times())
                else:
                    discarded[e] = self.image(e, f)
            found[f] = {
                "processed": {
                    d: self.parse(p, item["processed"][d]) if d in item.get("processed", {}) else f
                    for d in ins
                },
                "notified": self.parse(p, item["notified"]) if "notified" in item else f,
                "discarded": discarded,
                "projection": recorded,
            }
        return found

    def _live(self, p: str, live: dict, silent: bool) -> dict:
        """What a stateless processor that is alive has really done."""
        return {
            "processed": {d: self.parse(p, f) for d, f in live["processed"].items()},
            "notified": Times() if silent else self.parse(p, live["notified"]),
            "discarded": {
                e: self.parse(self.edges[e]["dst"], f) for e, f in live["discarded"].items()
            },
        }

    def _one_more(self, p: str, complete: Times) -> Times:
        """``complete`` and a time that was not completely delivered."""
        left = sorted(t for t in self.grid[p] - complete if t[0] not in (EPOCH, ""))
        return complete | self.closure(p, left[:1])

    def _downsets(self, p: str, within: Times) -> list[Times]:
        """Every frontier inside ``within``."""
        found, frontier = {Times()}, [Times()]
        while frontier:
            grown = []
            for f in frontier:
                for t in within - f:
                    larger = f | self.closure(p, [t])
                    if larger <= within and larger not in found:
                        found.add(larger)
                        grown.append(larger)
            frontier = grown
        return list(found)

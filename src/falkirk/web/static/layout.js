// Places for processors: layers by the longest path, few crossings, loops as loops.

export const WIDTH = 212;
export const HEIGHT = 106;
const GAP = 26;
/** How far apart layers are, and how much room a processor has in its layer. */
const measures = (tall) => (tall ? { step: HEIGHT + 64, room: WIDTH + GAP, deep: HEIGHT } : { step: WIDTH + 88, room: HEIGHT + GAP, deep: WIDTH });
const SWEEPS = 10;

/** Edges that lead back: those that feed a loop, and whatever else would close a circle. */
const backwards = (names, edges) => {
  const back = new Set(edges.filter((e) => e.projection === "feedback" || e.source === e.target));
  const outgoing = new Map(names.map((name) => [name, []]));
  for (const edge of edges) if (!back.has(edge)) outgoing.get(edge.source).push(edge);
  const state = new Map();
  for (const root of names) {
    if (state.has(root)) continue;
    const stack = [[root, 0]];
    state.set(root, "open");
    while (stack.length) {
      const top = stack.at(-1);
      const edge = outgoing.get(top[0])[top[1]++];
      if (!edge) {
        state.set(stack.pop()[0], "done");
      } else if (state.get(edge.target) === "open") {
        back.add(edge);
      } else if (!state.has(edge.target)) {
        state.set(edge.target, "open");
        stack.push([edge.target, 0]);
      }
    }
  }
  return back;
};

const layersOf = (names, forward) => {
  const layer = new Map(names.map((name) => [name, 0]));
  const waiting = new Map(names.map((name) => [name, 0]));
  const outgoing = new Map(names.map((name) => [name, []]));
  for (const edge of forward) {
    waiting.set(edge.target, waiting.get(edge.target) + 1);
    outgoing.get(edge.source).push(edge.target);
  }
  const ready = names.filter((name) => !waiting.get(name));
  for (const name of ready) {
    for (const target of outgoing.get(name)) {
      layer.set(target, Math.max(layer.get(target), layer.get(name) + 1));
      waiting.set(target, waiting.get(target) - 1);
      if (!waiting.get(target)) ready.push(target);
    }
  }
  // An input stands just before the first that reads it, not far off.
  for (const name of [...ready].reverse()) {
    const targets = outgoing.get(name);
    const alone = !forward.some((edge) => edge.target === name);
    if (alone && targets.length) layer.set(name, Math.min(...targets.map((t) => layer.get(t))) - 1);
  }
  return layer;
};

/** Rows of items: processors, and bends where an edge passes a layer. */
const rowsOf = (names, forward, layer) => {
  const rows = [];
  const put = (item) => ((rows[item.layer] ??= []).push(item), item);
  const items = new Map(names.map((name) => [name, put({ name, layer: layer.get(name), up: [], down: [] })]));
  const join = (a, b) => (a.down.push(b), b.up.push(a));
  const bends = new Map();
  for (const edge of forward) {
    let before = items.get(edge.source);
    const path = [];
    for (let at = layer.get(edge.source) + 1; at < layer.get(edge.target); at++) {
      const bend = put({ layer: at, up: [], down: [], bend: true });
      path.push(bend);
      join(before, bend);
      before = bend;
    }
    join(before, items.get(edge.target));
    bends.set(edge, path);
  }
  for (let i = 0; i < rows.length; i++) rows[i] ??= [];
  return { rows, items, bends };
};

const renumber = (row) => row.forEach((item, order) => (item.order = order));

const uncross = (rows) => {
  rows.forEach(renumber);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const downwards = sweep % 2 === 0;
    for (const row of downwards ? rows.slice(1) : rows.slice(0, -1).reverse()) {
      for (const item of row) {
        const near = downwards ? item.up : item.down;
        item.weight = near.length ? near.reduce((sum, each) => sum + each.order, 0) / near.length : item.order;
      }
      row.sort((a, b) => a.weight - b.weight || a.order - b.order);
      renumber(row);
    }
  }
};

/** Moves items towards their neighbours without changing their order. */
const settle = (rows, each) => {
  const room = (item) => (item.bend ? each * 0.3 : each);
  for (const row of rows) {
    let at = 0;
    for (const item of row) {
      item.cross = at + room(item) / 2;
      at += room(item);
    }
    for (const item of row) item.cross -= at / 2;
  }
  for (let pass = 0; pass < 12; pass++) {
    const order = pass % 2 ? [...rows].reverse() : rows;
    for (const row of order) {
      const wanted = row.map((item) => {
        const near = pass % 2 ? item.down : item.up;
        const all = near.length ? near : [item];
        return all.reduce((sum, other) => sum + other.cross, 0) / all.length;
      });
      place(row, wanted, room);
    }
  }
};

/** The places nearest to those wanted that keep the order and the distances (pooling neighbours). */
const place = (row, wanted, room) => {
  const blocks = [];
  let offset = 0;
  row.forEach((item, i) => {
    if (i) offset += (room(row[i - 1]) + room(item)) / 2;
    item.offset = offset;
    blocks.push({ sum: wanted[i] - offset, count: 1, items: [item] });
    while (blocks.length > 1) {
      const [a, b] = blocks.slice(-2);
      if (a.sum / a.count <= b.sum / b.count) break;
      blocks.splice(-2, 2, { sum: a.sum + b.sum, count: a.count + b.count, items: a.items.concat(b.items) });
    }
  });
  for (const block of blocks) for (const item of block.items) item.cross = block.sum / block.count + item.offset;
};

/** From here on a point is how far along the flow it lies, and where across it. */
const curve = (points, at) => {
  let d = `M${at(points[0])}`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    const middle = (a[0] + b[0]) / 2;
    d += `C${at([middle, a[1]])} ${at([middle, b[1]])} ${at(b)}`;
  }
  return d;
};

/** A loop: on past the last, beside everything in between, and back to before the first. */
const loop = (from, to, edge, at) => {
  const r = 30;
  const [[s, sc], [t, tc]] = [from, to];
  const line = [
    `M${at([s, sc])}Q${at([s + r, sc])} ${at([s + r, sc + r])}`,
    `L${at([s + r, edge - r])}Q${at([s + r, edge])} ${at([s, edge])}`,
    `L${at([t, edge])}Q${at([t - r, edge])} ${at([t - r, edge - r])}`,
    `L${at([t - r, tc + r])}Q${at([t - r, tc])} ${at([t, tc])}`,
  ];
  return { d: line.join(""), points: [[t - r, tc], [s + r, edge], [s + r, sc]], middle: [(s + t) / 2, edge] };
};

/** The first place from `wanted` on that lies beside all of these processors and not behind one. */
const free = (wanted, nodes, room) => {
  const apart = (room - GAP) / 2 + GAP / 3;
  const behind = (at) => nodes.filter((n) => Math.abs(n.cross - at) < apart).map((n) => n.cross + room / 2);
  let place = wanted;
  for (let found = behind(place); found.length; found = behind(place)) place = Math.max(...found);
  return place;
};

const around = (points) => {
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
};

/** Layers from left to right, or from the top down if it is to be `tall`. */
export const layout = (graph, tall = false) => {
  const { step, room, deep } = measures(tall);
  const point = ([along, cross]) => (tall ? { x: cross, y: along } : { x: along, y: cross });
  const at = (place) => ((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`)(point(place));
  const names = graph.processors.map((each) => each.name);
  const back = backwards(names, graph.edges);
  const forward = graph.edges.filter((edge) => !back.has(edge));
  const layer = layersOf(names, forward);
  const first = Math.min(0, ...layer.values());
  for (const name of names) layer.set(name, layer.get(name) - first);
  const { rows, items, bends } = rowsOf(names, forward, layer);
  uncross(rows);
  settle(rows, room);
  const nodes = new Map();
  for (const [name, item] of items) {
    const { x, y } = point([item.layer * step + deep / 2, item.cross]);
    nodes.set(name, { name, x: x - WIDTH / 2, y: y - HEIGHT / 2, layer: item.layer, cross: item.cross });
  }
  const start = (item) => [item.layer * step, item.cross];
  const end = (item) => [item.layer * step + deep, item.cross];
  const edges = graph.edges.map((edge) => {
    const [from, to] = [items.get(edge.source), items.get(edge.target)];
    if (back.has(edge)) {
      const between = [...nodes.values()].filter((n) => n.layer >= to.layer && n.layer <= from.layer);
      const near = between.filter((n) => Math.abs(n.cross - from.cross) < room * 2 || n.name === to.name);
      const beyond = free(Math.max(...near.map((n) => n.cross)) + room / 2, between, room);
      const { d, points, middle } = loop(end(from), start(to), beyond, at);
      return { ...edge, back: true, d, middle: point(middle), box: around(points.map(point)) };
    }
    const points = [end(from), ...bends.get(edge).flatMap((bend) => [start(bend), end(bend)]), start(to)];
    const [[a, ac], [b, bc]] = points;
    return { ...edge, d: curve(points, at), middle: point([(a + b) / 2, (ac + bc) / 2]), box: around(points.map(point)) };
  });
  const corners = [...nodes.values()].flatMap((n) => [n, { x: n.x + WIDTH, y: n.y + HEIGHT }]);
  const loops = edges.filter((edge) => edge.back).flatMap(({ box: [x0, y0, x1, y1] }) => [{ x: x0, y: y0 }, { x: x1, y: y1 }]);
  return { nodes, edges, tall, box: around([...corners, ...loops]) };
};

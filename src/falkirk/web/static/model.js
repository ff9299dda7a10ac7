// What the server tells, kept up to date; views subscribe to it.

const TRAIL_MAX = 240;
const listeners = new Set();

export const model = {
  connected: false,
  ready: false,
  live: true,
  store: null,
  state: "starting",
  at: 0,
  error: null,
  graph: null,
  processors: {},
  edges: {},
  recoveries: [],
  trail: [],
};

export const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const tell = (kind) => listeners.forEach((listener) => listener(kind));

const merge = ({ processors = {}, edges = {}, ...state }) => {
  Object.assign(model, state);
  Object.assign(model.processors, processors);
  Object.assign(model.edges, edges);
};

export const connect = () => {
  const source = new EventSource("/api/events");
  const on = (kind, take) =>
    source.addEventListener(kind, (event) => {
      model.connected = true;
      take(JSON.parse(event.data));
      tell(kind);
    });
  on("everything", (all) => {
    const names = (graph) => graph?.processors.map((each) => each.name).join("\n");
    const same = names(all.graph) === names(model.graph);
    Object.assign(model, all, { ready: true });
    if (!same) tell("graph");
  });
  on("progress", (news) => {
    merge(news);
    model.trail.push([news.at, model.graph.processors.map((p) => model.processors[p.name]?.completed[1])]);
    if (model.trail.length > TRAIL_MAX) model.trail.shift();
  });
  on("state", merge);
  on("recovery", (entry) => {
    const at = model.recoveries.findIndex((each) => each.number === entry.number);
    if (at < 0) model.recoveries.push(entry);
    else model.recoveries[at] = entry;
  });
  source.onerror = () => {
    model.connected = false;
    tell("connection");
  };
};

/** Asks the server; what it complains about is thrown. */
export const ask = async (address, body) => {
  const response = await fetch(
    address,
    body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  );
  const answer = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) {
    const words = answer.error.replace(/^\[FK\d+\] /, "");
    throw Object.assign(new Error(words), { status: response.status });
  }
  return answer;
};

/** Where epochs lie: the part of the axis that is worth looking at. */
export const span = (names, least = 8) => {
  let low = Infinity;
  let high = 0;
  for (const name of names) {
    const { completed, saved, watermark, open } = model.processors[name] ?? {};
    if (!completed) continue;
    for (const [, place] of [completed, saved]) if (place != null) high = Math.max(high, place);
    if (open.length) high = Math.max(high, open.at(-1));
    const final = watermark[1] ?? completed[1];
    if (final != null) low = Math.min(low, final);
  }
  if (low === Infinity) low = 0;
  const spread = Math.max(least, Math.ceil((high - low) * 1.2) + 1);
  return { low: Math.max(-1, high - spread), high: Math.max(high, spread - 1) };
};

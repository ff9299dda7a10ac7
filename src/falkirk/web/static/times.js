// Times on an axis: what each processor has done, completed, saved, and will never undo.

import { model, span } from "./model.js";
import { el, say, svg } from "./format.js";

const ROW = 44;
const AFTERGLOW = 30; // seconds for which it is seen where somebody was before stepping back
const SPARK = { width: 132, height: 26 };

const KINDS = [
  ["final", "below the low-watermark: final, can be collected"],
  ["saved", "durable"],
  ["complete", "complete"],
  ["open", "being worked on"],
  ["ghost", "was there, and stepped back"],
];

export class TimesView {
  constructor(host) {
    this.host = host;
    this.axis = el("div", { class: "axis" });
    this.lines = el("div", { class: "lines", "aria-hidden": "true" });
    this.rows = el("div", { class: "rows", role: "list", "aria-label": "Processors and their times" });
    this.drawn = new Map();
    host.append(
      el(
        "div",
        { class: "page wide" },
        el(
          "header",
          {},
          el("h2", {}, "Times"),
          el("p", {}, "Every processor on one axis. A rollback is a step back of those who must; the others stay where they are."),
        ),
        el("div", { class: "keys" }, KINDS.map(([kind, words]) => el("span", {}, el("i", { class: `bar ${kind}` }), words))),
        el("div", { class: "sheet-of-times" }, el("div", { class: "axis-line" }, el("span", { class: "faint number" }, "epoch"), this.axis, el("span", { class: "faint number" }, "complete"), el("span", { class: "faint" }, "lately")), el("div", { class: "body" }, this.lines, this.rows)),
      ),
    );
    this.scrolled = () => this.draw();
    host.addEventListener("scroll", this.scrolled, { passive: true });
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(host);
    this.changed("graph");
  }

  close() {
    this.host.removeEventListener("scroll", this.scrolled);
    this.resized.disconnect();
  }

  found(name) {
    const at = model.graph.processors.findIndex((each) => each.name === name);
    if (at < 0) return;
    this.host.scrollTop = this.rows.offsetTop + at * ROW - this.host.clientHeight / 2 + this.offset();
    this.draw();
    this.drawn.get(name)?.root.focus();
  }

  offset() {
    return this.rows.getBoundingClientRect().top - this.host.getBoundingClientRect().top + this.host.scrollTop - this.rows.offsetTop;
  }

  changed(kind) {
    if (!model.graph) return;
    if (kind === "graph") {
      this.drawn.clear();
      this.rows.replaceChildren();
      this.rows.style.height = `${model.graph.processors.length * ROW}px`;
    }
    this.scale = span(model.graph.processors.filter((p) => !p.numbered).map((p) => p.name));
    this.ticks();
    this.draw();
  }

  ticks() {
    const { low, high } = this.scale;
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000].find((each) => (high - low) / each <= Math.max(3, this.axis.clientWidth / 60)) ?? 100_000;
    const places = [];
    for (let at = Math.ceil(Math.max(0, low) / step) * step; at <= high; at += step) places.push(at);
    const put = (at, content) => {
      content.style.left = `${share(at, this.scale) * 100}%`;
      return content;
    };
    this.axis.replaceChildren(...places.map((at) => put(at, el("span", {}, String(at)))));
    this.lines.replaceChildren(...places.map((at) => put(at, el("i"))));
  }

  /** Only the rows in sight are drawn. */
  draw() {
    if (!model.graph) return;
    const all = model.graph.processors;
    const top = this.host.getBoundingClientRect().top - this.rows.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / ROW) - 4);
    const last = Math.min(all.length, Math.ceil((top + this.host.clientHeight) / ROW) + 4);
    const wanted = new Set(all.slice(first, last).map((each) => each.name));
    for (const [name, { root }] of this.drawn) {
      if (!wanted.has(name) && !root.contains(document.activeElement)) {
        root.remove();
        this.drawn.delete(name);
      }
    }
    for (let i = first; i < last; i++) {
      const about = all[i];
      let row = this.drawn.get(about.name);
      if (!row) {
        row = rowOf(about, i);
        this.drawn.set(about.name, row);
        this.rows.append(row.root);
      }
      this.refresh(about, i, row);
    }
  }

  refresh(about, index, row) {
    const value = model.processors[about.name];
    if (!value) return;
    const scale = about.numbered ? span([about.name]) : this.scale;
    const reached = { final: value.watermark, saved: value.saved, complete: value.completed };
    for (const [kind, [words, place]] of Object.entries(reached)) {
      const bar = row[kind];
      bar.style.width = `${share(place, scale) * 100}%`;
      bar.title = `${kind}: ${words}`;
    }
    const before = formerly(index);
    const now = value.completed[1];
    const back = before != null && now != null && before > now;
    row.root.classList.toggle("stepped-back", back);
    if (back) {
      row.ghost.style.left = `${share(now, scale) * 100}%`;
      row.ghost.style.width = `${Math.max(0, share(before, scale) - share(now, scale)) * 100}%`;
    }
    row.open.replaceChildren(
      ...value.open.map((at) => {
        const cell = el("i", { class: "cell" });
        cell.style.left = `${share(at - 1, scale) * 100}%`;
        cell.style.width = `${Math.max(0, share(at, scale) - share(at - 1, scale)) * 100}%`;
        return cell;
      }),
    );
    say(row.words, value.completed[0]);
    const told = `${about.name}: complete up to ${value.completed[0]}, durable ${value.saved[0]}, final ${value.watermark[0]}`;
    row.root.setAttribute("aria-label", back ? `${told}, stepped back` : told);
    row.spark.setAttribute("points", sparkline(index));
  }
}

const share = (place, { low, high }) => (place == null ? 1 : Math.min(1, Math.max(0, (place - low) / (high - low))));

const rowOf = (about, index) => {
  const bar = (kind) => el("div", { class: `bar ${kind}` });
  const row = {
    complete: bar("complete"),
    saved: bar("saved"),
    final: bar("final"),
    ghost: bar("ghost"),
    open: el("div", { class: "cells" }),
    words: el("span", { class: "words" }),
    spark: svg("polyline"),
  };
  row.root = el(
    "div",
    { class: `row is-${about.regime}`, role: "listitem", tabindex: 0 },
    el("a", { class: "who", href: `#/flow/${encodeURIComponent(about.name)}`, tabindex: -1 }, about.name),
    el("div", { class: "line" }, row.complete, row.saved, row.final, row.open, row.ghost),
    row.words,
    svg("svg", { class: "spark", viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, "aria-hidden": "true", preserveAspectRatio: "none" }, row.spark),
  );
  row.root.style.top = `${index * ROW}px`;
  return row;
};

/** Where a processor was at most, a short while ago. */
const formerly = (index) => {
  let most = null;
  for (let i = model.trail.length - 1; i >= 0 && model.at - model.trail[i][0] < AFTERGLOW; i--) {
    const place = model.trail[i][1][index];
    if (place != null && (most == null || place > most)) most = place;
  }
  return most;
};

const sparkline = (index) => {
  const points = model.trail.map(([at, places]) => [at, places[index]]).filter(([, place]) => place != null);
  if (points.length < 2) return "";
  const [first, last] = [points[0][0], points.at(-1)[0]];
  const places = points.map(([, place]) => place);
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const x = (at) => (((at - first) / (last - first || 1)) * (SPARK.width - 4) + 2).toFixed(1);
  const y = (place) => (SPARK.height - 3 - ((place - low) / (high - low || 1)) * (SPARK.height - 6)).toFixed(1);
  return points.map(([at, place]) => `${x(at)},${y(place)}`).join(" ");
};

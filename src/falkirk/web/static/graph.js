// The flow as a picture, with only as much detail as can be read.

import { model, span } from "./model.js";
import { bytes, el, number, say, seconds, set, shortened, svg } from "./format.js";
import { HEIGHT, WIDTH, layout } from "./layout.js";
import { NAMES, Viewport } from "./viewport.js";

const FULL = 0.6; // from this zoom on everything is written
const MARGIN = 60;
const PAD = 14;

export class Graph extends Viewport {
  /**
   * `picked(name)` is called for a click or Enter, `look(name)` gives a class for a processor, and
   * so many pixels are left free `above`.
   */
  constructor(host, { picked, look = () => "", above }) {
    super(picked, above);
    this.look = look;
    this.edgeLayer = svg("g", { class: "edges" });
    this.farLayer = svg("g", { class: "far" });
    this.nodeLayer = svg("g", { class: "nodes" });
    this.world = svg("g", {}, this.edgeLayer, this.farLayer, this.nodeLayer);
    this.svg = svg("svg", { "aria-hidden": "true" }, arrows(), this.world);
    this.voice = el("p", { class: "voice", "aria-live": "polite" });
    this.box = el(
      "div",
      {
        class: "graph",
        tabindex: 0,
        role: "application",
        "aria-label": "The flow. Arrow keys go from processor to processor, Enter picks one, plus and minus zoom.",
      },
      this.svg,
      this.voice,
      el(
        "div",
        { class: "zoom" },
        el("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.zoom(1.4) }, "+"),
        el("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.zoom(1 / 1.4) }, "−"),
        el("button", { type: "button", "aria-label": "Show all", onclick: () => this.fit() }, "⤢"),
      ),
    );
    host.append(this.box);
    this.drawn = { nodes: new Map(), edges: new Map(), level: -1 };
    this.selected = null;
    this.watch();
  }

  setGraph(graph) {
    this.graph = graph;
    this.about = new Map(graph.processors.map((each) => [each.name, each]));
    const [wide, tall] = [layout(graph), layout(graph, true)];
    this.plan = this.scale(tall) > 1.25 * this.scale(wide) ? tall : wide;
    this.clear();
    this.cursor = this.plan.nodes.has(this.cursor) ? this.cursor : null;
    this.fit();
  }

  clear() {
    this.edgeLayer.replaceChildren();
    this.nodeLayer.replaceChildren();
    this.farLayer.replaceChildren();
    this.drawn = { nodes: new Map(), edges: new Map(), level: -1 };
  }

  select(name) {
    this.selected = name;
    this.refresh();
  }

  // Drawing.

  draw() {
    if (!this.plan) return;
    const { k, x, y } = this.view;
    set(this.world, "transform", `translate(${x} ${y}) scale(${k})`);
    const level = k >= FULL ? 2 : k >= NAMES ? 1 : 0;
    if (level !== this.drawn.level) {
      this.clear();
      this.drawn.level = level;
      set(this.box, "data-level", level);
      if (level === 0) this.drawFar();
    }
    if (level === 0) {
      this.refreshFar();
      return;
    }
    const { width, height } = this.size;
    const seen = [-x / k - MARGIN, -y / k - MARGIN, (width - x) / k + MARGIN, (height - y) / k + MARGIN];
    this.keep("edges", this.plan.edges, seen, (edge) => edge.box, (edge) => this.edge(edge), this.edgeLayer);
    const box = (node) => [node.x, node.y, node.x + WIDTH, node.y + HEIGHT];
    this.keep("nodes", [...this.plan.nodes.values()], seen, box, (node) => this.node(node, level), this.nodeLayer);
    this.refresh();
  }

  /** Draws what has come into sight and removes what has left it. */
  keep(kind, all, [x0, y0, x1, y1], boxOf, made, layer) {
    const drawn = this.drawn[kind];
    for (const each of all) {
      const [a, b, c, d] = boxOf(each);
      const visible = c >= x0 && a <= x1 && d >= y0 && b <= y1;
      const there = drawn.get(each.name);
      if (visible && !there) {
        const parts = made(each);
        drawn.set(each.name, parts);
        layer.append(parts.root);
      } else if (!visible && there) {
        there.root.remove();
        drawn.delete(each.name);
      }
    }
  }

  node({ name, x, y }, level) {
    const about = this.about.get(name);
    const root = svg("g", { transform: `translate(${x} ${y})` });
    root.append(
      svg("title", {}, `${name}\n${about.policy}${about.location ? `\n${about.location}` : ""}`),
      svg("rect", { class: "halo", x: -5, y: -5, width: WIDTH + 10, height: HEIGHT + 10, rx: 14 }),
      svg("rect", { class: "sheet", width: WIDTH, height: HEIGHT, rx: 10 }),
      svg("path", { class: "regime", d: `M10 0H5.5A5.5 10 0 0 0 0 10V${HEIGHT - 10}A5.5 10 0 0 0 5.5 ${HEIGHT}H10Z` }),
    );
    const text = (className, tx, ty, words = "") =>
      root.appendChild(svg("text", { class: className, x: tx, y: ty }, words));
    if (level === 1) {
      text("name large", PAD + 6, 48, shortened(name, 14));
      return { root, frontier: text("frontier large", PAD + 6, 80) };
    }
    const right = WIDTH - PAD;
    text("name", PAD + 6, 26, shortened(name, 17));
    const role = about.role === "inner" ? "" : `${about.role} · `;
    text("policy", PAD + 6, 44, shortened(role + about.policy, 28));
    const parts = {
      root,
      lag: text("lag end", right, 26),
      frontier: text("frontier", PAD + 6, 70),
      rate: text("rate end", right, 70),
      watermark: text("small", PAD + 6, 88),
      state: text("small end", right, 88),
    };
    const track = (className) =>
      root.appendChild(svg("rect", { class: `track ${className}`, x: PAD + 6, y: HEIGHT - 7, width: 0, height: 2.5, rx: 1.25 }));
    set(track("all"), "width", right - PAD - 6);
    parts.tracks = ["complete", "saved", "final"].map(track);
    return parts;
  }

  edge(edge) {
    const root = svg("g", { class: `edge${edge.back ? " back" : ""}` });
    root.append(svg("title", {}, edge.name), svg("path", { d: edge.d, "marker-end": "url(#arrow)" }));
    if (this.drawn.level < 2) return { root };
    const queued = svg("text", { x: edge.middle.x, y: edge.middle.y - 7 });
    const logged = svg("text", { x: edge.middle.x, y: edge.middle.y + 16 });
    root.append(queued, logged);
    return { root, queued, logged };
  }

  refresh() {
    if (!this.plan || this.drawn.level < 1) {
      if (this.drawn.level === 0) this.refreshFar();
      return;
    }
    const { low, high } = span(model.graph.processors.filter((p) => !p.numbered).map((p) => p.name));
    const long = WIDTH - 2 * PAD - 6;
    const focused = document.activeElement === this.box;
    for (const [name, parts] of this.drawn.nodes) {
      const value = model.processors[name];
      const about = this.about.get(name);
      const states = [
        "node",
        `is-${about.regime}`,
        name === this.selected && "selected",
        focused && name === this.cursor && "cursor",
        value?.suspected && "suspected",
        value?.replaying && "replaying",
        this.look(name),
      ];
      set(parts.root, "class", states.filter(Boolean).join(" "));
      if (!value) continue;
      say(parts.frontier, shortened(brief(value.completed[0]), 15));
      if (!parts.lag) continue;
      say(parts.lag, value.lag ? seconds(value.lag) : "");
      const unit = brief(value.completed[0]).length > 10 ? "/s" : "rows/s";
      say(parts.rate, value.rate == null ? "" : `${number(value.rate)} ${unit}`);
      say(parts.watermark, value.watermark[1] === -1 ? "nothing final" : shortened(`final: ${brief(value.watermark[0])}`, 19));
      say(parts.state, value.state_bytes ? bytes(value.state_bytes) : "");
      [value.completed, value.saved, value.watermark].forEach(([, place], i) => {
        const share = about.numbered || place == null ? 1 : Math.min(1, Math.max(0, (place - low) / (high - low)));
        set(parts.tracks[i], "width", (share * long).toFixed(1));
      });
    }
    for (const [name, parts] of this.drawn.edges) {
      const [queued, logged] = model.edges[name] ?? [];
      parts.root.classList.toggle("busy", queued > 0);
      if (!parts.queued) continue;
      say(parts.queued, queued ? `${number(queued)} queued` : "");
      say(parts.logged, logged ? `${number(logged)} logged` : "");
    }
  }

  /** From afar: all edges are one path, and all processors of a kind are one. */
  drawFar() {
    const lines = this.plan.edges.map((edge) => edge.d).join("");
    this.edgeLayer.append(svg("path", { class: "all", d: lines }));
  }

  refreshFar() {
    const groups = new Map();
    for (const node of this.plan.nodes.values()) {
      const value = model.processors[node.name];
      const marked = this.look(node.name) || (value?.suspected ? "suspected" : "");
      const chosen = node.name === this.selected || node.name === this.cursor ? " selected" : "";
      const key = `node is-${this.about.get(node.name).regime} ${marked}${chosen}`;
      groups.set(key, `${groups.get(key) ?? ""}M${node.x} ${node.y}h${WIDTH}v${HEIGHT}h${-WIDTH}z`);
    }
    const paths = [...groups].map(([key, d]) => svg("path", { class: key, d }));
    this.farLayer.replaceChildren(...paths);
  }
}

/** A time in a loop as it is typed elsewhere: epoch 13.6 is round 6 of epoch 13. */
const brief = (words) => words.replace(/ rounds? (\d)/, ".$1");

const arrows = () =>
  svg(
    "defs",
    {},
    svg(
      "marker",
      { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
      svg("path", { class: "arrow", d: "M1 1L7 4L1 7" }),
    ),
  );

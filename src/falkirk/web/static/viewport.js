// Moving about in a picture: pan, zoom, and from processor to processor by keyboard.

import { model } from "./model.js";
import { HEIGHT, WIDTH } from "./layout.js";

export const NAMES = 0.26; // from this zoom on names can be read
const [BELOW, SIDE] = [72, 28]; // room for the legend, and air

/** Who extends it has a `box` with an `svg`, a `plan`, and can `draw` and `refresh`. */
export class Viewport {
  constructor(picked, above = SIDE) {
    this.picked = picked;
    this.above = above;
    this.moved = false;
    this.view = { k: 1, x: 0, y: 0 };
    this.cursor = null;
  }

  get size() {
    return { width: this.box.clientWidth || 1, height: this.box.clientHeight || 1 };
  }

  /** How large a plan can be shown as a whole. */
  scale({ box: [x0, y0, x1, y1] }) {
    const { width, height } = this.size;
    return Math.min(1.1, (width - 2 * SIDE) / (x1 - x0), (height - this.above - BELOW) / (y1 - y0));
  }

  fit() {
    const { width, height } = this.size;
    const [x0, y0, x1, y1] = this.plan.box;
    const k = Math.max(0.005, this.scale(this.plan));
    this.view = { k, x: (width - (x0 + x1) * k) / 2, y: (this.above + height - BELOW - (y0 + y1) * k) / 2 };
    this.moved = false;
    this.draw();
  }

  zoom(factor, cx = this.size.width / 2, cy = this.size.height / 2) {
    this.moved = true;
    const { k, x, y } = this.view;
    const next = Math.min(2.5, Math.max(0.01, k * factor));
    this.view = { k: next, x: cx - ((cx - x) * next) / k, y: cy - ((cy - y) * next) / k };
    this.draw();
  }

  /** Brings a processor into sight, large enough to be read. */
  show(name) {
    const node = this.plan?.nodes.get(name);
    if (!node) return;
    const { width, height } = this.size;
    const k = Math.max(this.view.k, 0.85);
    const [px, py] = [node.x * k + this.view.x, node.y * k + this.view.y];
    const inside = k === this.view.k && px > 20 && py > 20 && px + WIDTH * k < width - 20 && py + HEIGHT * k < height - 20;
    this.moved = true;
    if (!inside) this.view = { k, x: width / 2 - (node.x + WIDTH / 2) * k, y: height / 2 - (node.y + HEIGHT / 2) * k };
    this.cursor = name;
    this.draw();
  }

  /** Moves the picture just so far that a processor is in sight. */
  reveal(name) {
    const node = this.plan?.nodes.get(name);
    if (!node) return;
    const { k } = this.view;
    const { width, height } = this.size;
    const inside = (at, long, most) => Math.min(0, most - 24 - at - long) || Math.max(0, 24 - at);
    this.view.x += inside(node.x * k + this.view.x, WIDTH * k, width);
    this.view.y += inside(node.y * k + this.view.y, HEIGHT * k, height);
    this.draw();
  }

  watch() {
    const pointers = new Map();
    let moved = 0;
    const local = (event) => {
      const { left, top } = this.box.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, local(event));
      if (pointers.size === 1) moved = 0;
    });
    this.svg.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      const now = local(event);
      if (!before) {
        this.svg.classList.toggle("over", this.at(now) != null);
        return;
      }
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const far = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) || 1;
        this.zoom(far(now, other) / far(before, other), (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else {
        this.moved = true;
        this.view.x += now.x - before.x;
        this.view.y += now.y - before.y;
        this.later();
      }
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      pointers.set(event.pointerId, now);
    });
    const up = (event) => {
      const at = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      if (event.type === "pointerup" && at && moved < 5) {
        const name = this.at(at);
        this.cursor = name ?? this.cursor;
        this.picked(name);
      }
    };
    this.svg.addEventListener("pointerup", up);
    this.svg.addEventListener("pointercancel", up);
    this.svg.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = local(event);
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), x, y);
      },
      { passive: false },
    );
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("blur", () => this.refresh());
    new ResizeObserver(() => {
      if (this.plan && !this.moved) this.setGraph(this.graph);
      else this.later();
    }).observe(this.box);
  }

  key(event) {
    if (event.target !== this.box || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (step) this.step(...(this.plan.tall ? step.reverse() : step));
    else if (event.key === "Enter" || event.key === " ") this.cursor && this.picked(this.cursor);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** Along the edges, or to the next in the same layer. */
  step(along, across) {
    const nodes = [...this.plan.nodes.values()];
    const here = this.plan.nodes.get(this.cursor);
    let next;
    if (!here) {
      next = nodes.reduce((a, b) => (b.layer < a.layer || (b.layer === a.layer && b.cross < a.cross) ? b : a));
    } else {
      const joined = this.plan.edges
        .filter((edge) => along && !edge.back && (along > 0 ? edge.source : edge.target) === here.name)
        .map((edge) => this.plan.nodes.get(along > 0 ? edge.target : edge.source));
      const beyond = nodes.filter((n) =>
        along ? n.layer === here.layer + along : n.layer === here.layer && (n.cross - here.cross) * across > 0,
      );
      const far = (n) => Math.abs(n.cross - here.cross);
      next = (joined.length ? joined : beyond).reduce((a, b) => (a && far(a) <= far(b) ? a : b), null);
    }
    if (!next) return;
    this.show(next.name);
    const value = model.processors[next.name];
    const stands = value ? `complete up to ${value.completed[0]}, final up to ${value.watermark[0]}` : "";
    this.voice.textContent = `${next.name}, ${this.about.get(next.name).policy}, ${stands}`;
  }

  /** The processor at a point of the box, if there is one. */
  at({ x, y }) {
    const [wx, wy] = [(x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k];
    const slack = this.view.k < NAMES ? 6 / this.view.k : 0;
    for (const node of this.plan?.nodes.values() ?? []) {
      const inside = wx >= node.x - slack && wx <= node.x + WIDTH + slack;
      if (inside && wy >= node.y - slack && wy <= node.y + HEIGHT + slack) return node.name;
    }
    return null;
  }

  later() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }
}

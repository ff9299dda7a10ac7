// The flow, live: figures above, the picture, and beside it what is known of one processor.

import { ask, model } from "./model.js";
import { bytes, el, number, say, seconds } from "./format.js";
import { Graph } from "./graph.js";

const REGIMES = ["ephemeral", "batch", "lazy", "eager", "history", "snapshot", "at-least-once"];

export const legend = () => {
  const used = new Set(model.graph?.processors.map((each) => each.regime));
  const shown = REGIMES.filter((regime) => used.has(regime));
  return el("div", { class: "legend" }, shown.map((regime) => el("span", { class: `is-${regime}` }, el("i"), regime.replaceAll("-", " "))));
};

const figures = {
  "furthest behind": (values) => (values.some((v) => v.lag != null) ? seconds(Math.max(0, ...values.map((v) => v.lag ?? 0))) : null),
  "rows read a second": (values, about) => {
    const rates = values.filter((_, i) => about[i].role === "input").map((v) => v.rate);
    return rates.some((rate) => rate != null) ? number(rates.reduce((sum, rate) => sum + (rate ?? 0), 0)) : null;
  },
  waiting: (values) => (values.some((v) => v.queued != null) ? number(values.reduce((sum, v) => sum + (v.queued ?? 0), 0)) : null),
  state: (values) => bytes(values.reduce((sum, v) => sum + (v.state_bytes ?? 0), 0)),
  recoveries: () => number(model.recoveries.length),
};

export class FlowView {
  constructor(host) {
    this.numbers = el("dl", { class: "figures" });
    this.picture = el("div", { class: "picture" }, this.numbers);
    this.side = el("aside", { class: "side", "aria-label": "The chosen processor", hidden: true });
    host.append(el("div", { class: "canvas" }, this.picture, this.side));
    this.graph = new Graph(this.picture, { picked: (name) => this.pick(name), above: 96 });
    this.cells = Object.fromEntries(
      Object.keys(figures).map((title) => {
        const value = el("dd");
        const part = el("div", { hidden: true }, el("dt", {}, title), value);
        this.numbers.append(part);
        return [title, { part, value }];
      }),
    );
    this.changed("graph");
  }

  changed(kind) {
    if (!model.graph) return;
    if (kind === "graph") {
      this.graph.setGraph(model.graph);
      this.picture.querySelector(".legend")?.remove();
      this.picture.append(legend());
    }
    this.graph.refresh();
    const about = model.graph.processors;
    const values = about.map((each) => model.processors[each.name] ?? {});
    for (const [title, measure] of Object.entries(figures)) {
      const measured = measure(values, about);
      const { part, value } = this.cells[title];
      part.hidden = measured == null;
      say(value, measured ?? "");
    }
    if (this.chosen) this.facts();
  }

  found(name) {
    this.graph.show(name);
    this.pick(name);
  }

  escape() {
    if (!this.chosen) return;
    this.pick(null);
    this.graph.box.focus();
  }

  pick(name) {
    this.chosen = name;
    this.graph.select(name);
    this.side.hidden = name == null;
    if (name == null) return;
    requestAnimationFrame(() => this.graph.reveal(name));
    const about = model.graph.processors.find((each) => each.name === name);
    this.list = el("dl", { class: "facts" });
    this.why = el("section", {}, el("h3", {}, "Why it stands there"), el("p", { class: "faint" }, "…"));
    this.side.replaceChildren(
      el(
        "header",
        {},
        el(
          "div",
          {},
          el("h2", {}, name),
          el("p", { class: `tag is-${about.regime}` }, about.policy),
          about.location && el("p", { class: "faint code" }, about.location),
        ),
        el("button", { class: "quiet", type: "button", "aria-label": "Close", onclick: () => this.escape() }, "✕"),
      ),
      this.list,
      this.why,
      el(
        "p",
        { class: "actions" },
        el("a", { href: `#/what-if/${encodeURIComponent(name)}` }, "What if it fails?"),
        el("a", { href: `#/repair/${encodeURIComponent(name)}` }, "Roll it back"),
      ),
    );
    this.facts();
    this.explain(name);
  }

  facts() {
    const value = model.processors[this.chosen];
    const about = model.graph.processors.find((each) => each.name === this.chosen);
    if (!value || !about) return;
    const facts = [
      ["complete", value.completed[0]],
      ["durable", value.saved[0]],
      ["low-watermark", value.watermark[0]],
      ["working on", value.open_words.join(", ") || null],
      ["behind", value.lag == null ? null : seconds(value.lag)],
      ["rows a second", value.rate == null ? null : number(value.rate)],
      ["rows", value.rows == null ? null : number(value.rows)],
      ["events", value.events == null ? null : number(value.events)],
      ["waiting", value.queued == null ? null : number(value.queued)],
      ["state", value.state_rows == null ? bytes(value.state_bytes) : `${bytes(value.state_bytes)}, ${number(value.state_rows)} rows`],
      ["rounds", value.rounds || null],
      ["not acknowledged", value.unacknowledged],
      ["rolled back", ["never", "once", "twice"][value.incarnation] ?? `${value.incarnation} times`],
    ].filter(([, words]) => words != null);
    this.list.replaceChildren(...facts.flatMap(([title, words]) => [el("dt", {}, title), el("dd", {}, String(words))]));
  }

  async explain(name) {
    const { why } = this;
    try {
      const found = await ask(`/api/explain/${encodeURIComponent(name)}`);
      const words = found.held
        ? `It has saved ${found.saved.words} and may keep ${found.stands.words}.`
        : `Nothing holds it down: it would keep all that it has saved, ${found.saved.words}.`;
      const causes = found.causes.map((cause) => el("li", {}, cause.words, el("span", { class: "faint" }, cause.section)));
      const held = found.roots.length ? el("p", { class: "faint" }, `In the end because of ${found.roots.join(", ")}.`) : null;
      why.replaceChildren(el("h3", {}, "Why it stands there"), el("p", { class: "soft" }, words), el("ul", { class: "reasons" }, ...(found.held ? causes : [])), found.held ? held ?? "" : "");
    } catch (error) {
      why.replaceChildren(el("h3", {}, "Why it stands there"), el("p", { class: "faint" }, error.message));
    }
  }
}

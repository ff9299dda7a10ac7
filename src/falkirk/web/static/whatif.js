// What would happen if some processors failed now, from the real solver on the real store.

import { ask, model } from "./model.js";
import { el, listed } from "./format.js";
import { fatesOf, looks, summary } from "./fates.js";
import { legend } from "./flow.js";
import { Graph } from "./graph.js";

export class WhatIfView {
  constructor(host, name) {
    this.failed = new Set(name ? [name] : []);
    this.look = new Map();
    this.picture = el("div", { class: "picture" });
    this.answer = el("div", { "aria-live": "polite" });
    this.title = el("h2");
    this.side = el(
      "aside",
      { class: "side", "aria-label": "What would happen" },
      el("header", {}, this.title),
      this.answer,
      el(
        "p",
        { class: "actions" },
        el("button", { type: "button", onclick: () => this.choose(model.graph.processors.map((p) => p.name)) }, "Everything"),
        el("button", { type: "button", onclick: () => this.choose([]) }, "Nobody"),
      ),
    );
    host.append(el("div", { class: "canvas" }, this.picture, this.side));
    this.graph = new Graph(this.picture, {
      picked: (picked) => picked && this.toggle(picked),
      look: (each) => this.look.get(each) ?? (this.failed.has(each) ? "fails" : ""),
    });
    this.changed("graph");
  }

  changed(kind) {
    if (!model.graph) return;
    if (kind === "graph") {
      this.graph.setGraph(model.graph);
      this.picture.querySelector(".legend")?.remove();
      this.picture.append(legend());
      this.ask();
    }
    this.graph.refresh();
  }

  found(name) {
    this.graph.show(name);
    this.toggle(name);
  }

  toggle(name) {
    if (!this.failed.delete(name)) this.failed.add(name);
    this.choose(this.failed);
  }

  choose(names) {
    this.failed = new Set(names);
    this.look = new Map();
    this.graph.refresh();
    this.ask();
  }

  async ask() {
    const asked = [...this.failed];
    const all = asked.length === model.graph.processors.length;
    this.title.textContent = asked.length ? `If ${all ? "everything" : listed(asked)} failed now` : "Who fails?";
    if (!asked.length) {
      this.answer.replaceChildren(el("p", { class: "soft" }, "Pick processors in the picture. The solver then says, from what the store holds, who would go back and how far. Nothing is changed."));
      return;
    }
    try {
      const found = await ask("/api/what-if", { failed: asked });
      if ([...this.failed].join("\n") !== asked.join("\n")) return;
      this.look = looks(found.fates);
      this.answer.replaceChildren(
        el("p", { class: "soft" }, summary(found)),
        ...fatesOf(found),
        el("p", { class: "faint note" }, "What was done since the last checkpoints and is not durable is done again, too."),
      );
    } catch (error) {
      this.answer.replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
    this.graph.refresh();
  }
}

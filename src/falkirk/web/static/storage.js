// What the store keeps, and who is the reason.

import { ask, model } from "./model.js";
import { bytes, el, several } from "./format.js";
import { PinsPart } from "./pins.js";

export class StorageView {
  constructor(host) {
    this.page = el("div", { class: "page" });
    host.append(this.page);
    this.pins = new PinsPart(() => this.load());
    this.load();
  }

  changed() {}

  async load() {
    try {
      this.show(await ask("/api/storage"));
    } catch (error) {
      this.page.replaceChildren(el("header", {}, el("h2", {}, "Storage")), el("p", { class: "notice bad" }, error.message));
    }
  }

  show({ kept, files, bytes: total, orphans, pins }) {
    this.pins.show(pins);
    const largest = Math.max(1, ...kept.map((each) => each.bytes));
    const shares = new Map();
    for (const each of kept) shares.set(each.processor, (shares.get(each.processor) ?? 0) + each.bytes);
    this.page.replaceChildren(
      el(
        "header",
        { class: "with-action" },
        el(
          "div",
          {},
          el("h2", {}, `${bytes(total)} in ${several(files, "file")}`),
          el("p", {}, "What is kept of whom, and the processor on whose account it cannot be let go."),
        ),
        el("button", { type: "button", onclick: () => this.load() }, "Look again"),
      ),
      this.whole(shares, total),
      kept.length ? el("ul", { class: "kept" }, kept.map((each) => line(each, largest))) : el("p", { class: "empty" }, "The store holds no files: all that is kept is in its database."),
      orphans.files > 0 ?
        el("p", { class: "notice" }, `${several(orphans.files, "file")}, ${bytes(orphans.bytes)}, are named by nothing. A run removes them by itself; `, el("code", {}, "falkirk gc"), " does so without one.") : "",
      this.pins.element,
    );
  }

  /** One bar for all, in the colours of the regimes. */
  whole(shares, total) {
    const regime = new Map((model.graph?.processors ?? []).map((each) => [each.name, each.regime]));
    const bar = el("div", { class: "whole", "aria-hidden": "true" });
    for (const [name, size] of [...shares].sort((a, b) => b[1] - a[1])) {
      const part = el("i", { class: `is-${regime.get(name)}`, title: `${name}: ${bytes(size)}` });
      part.style.flexGrow = String(size / (total || 1));
      bar.append(part);
    }
    return bar;
  }
}

const line = ({ processor, what, files, bytes: size, rows, because, reason }, largest) => {
  const bar = el("i", { class: "measure" });
  bar.style.width = `${(size / largest) * 100}%`;
  const others = reason.filter((name) => name !== processor);
  const linked = (name) => (name.startsWith("pin ") ? name : el("a", { href: `#/flow/${encodeURIComponent(name)}` }, name));
  return el(
    "li",
    {},
    el("div", { class: "head" }, el("b", {}, processor), el("span", { class: "soft" }, what), el("span", { class: "number" }, bytes(size))),
    bar,
    el(
      "p",
      { class: "soft" },
      `${because.replace(/^(it|pinned)\b/, (word) => word[0].toUpperCase() + word.slice(1))}. `,
      el("span", { class: "faint" }, `${several(files, "file")}, ${several(rows, "row")}`),
      others.length > 0 && el("span", { class: "faint" }, "; because of "),
      others.flatMap((name, i) => [i ? ", " : "", linked(name)]),
    ),
  );
};

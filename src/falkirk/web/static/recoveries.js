// What went wrong, who went back and why, and what it cost.

import { model } from "./model.js";
import { clock, day, el, listed, number, seconds, several } from "./format.js";

const MOST = 60;
const TODAY_SECONDS = 43_200;
const KINDS = { restart: "Restart", "lost-executor": "Lost executor", error: "Error", repair: "Repair", observed: "Rollback" };

export class RecoveriesView {
  constructor(host) {
    this.list = el("ol", { class: "stories" });
    this.open = new Set();
    host.append(
      el(
        "div",
        { class: "page" },
        el("header", {}, el("h2", {}, "Recoveries"), el("p", {}, "Each failure with its cause, where everybody went, and the constraint that forced them; earlier runs included.")),
        this.list,
      ),
    );
    this.changed("graph");
  }

  changed(kind) {
    if (!["graph", "recovery", "everything"].includes(kind)) return;
    const newest = [...model.recoveries].reverse();
    if (!newest.length) {
      const words = "Nothing has ever gone back.";
      this.list.replaceChildren(el("li", { class: "empty" }, words));
      return;
    }
    this.list.replaceChildren(...newest.map((each) => this.story(each)));
  }

  story(recovery) {
    const { number: which, kept } = recovery;
    const moved = recovery.moved.toSorted((a, b) => b.failed - a.failed);
    const went = moved.filter((each) => !each.failed).length;
    const details = el(
      "details",
      { open: this.open.has(which), ontoggle: (event) => (event.target.open ? this.open.add(which) : this.open.delete(which)) },
      el("summary", {}, went && recovery.failed.length ? `${several(moved.length, "processor")} went back, ${went} of them on others’ account` : `${several(moved.length, "processor")} went back`),
      el("ul", { class: "moves" }, moved.slice(0, MOST).map(move)),
      moved.length > MOST && el("p", { class: "faint" }, `and ${number(moved.length - MOST)} more`),
    );
    return el(
      "li",
      { class: `story kind-${recovery.kind}` },
      el("p", { class: "when" }, el("time", { title: day(recovery.at) }, Date.now() / 1000 - recovery.at < TODAY_SECONDS ? clock(recovery.at) : day(recovery.at)), el("span", { class: "kind" }, KINDS[recovery.kind])),
      el("div", {}, el("h3", { class: "cause" }, cause(recovery)), costs(recovery, kept), details),
    );
  }
}

const cause = ({ kind, cause: words, failed }) => {
  if (kind === "restart") return "The run began again from its store";
  if (kind === "repair") return `Somebody took it back, ${words.replace(/^by hand, /, "")}`;
  if (kind === "observed") return "Processors have gone back; the store does not say why";
  const who = listed(failed);
  return kind === "lost-executor" ? `${who} lost what was in the memory of an executor` : `${who} failed: ${words}`;
};

const costs = ({ kept, caught_up, seconds: decided, rows, moved }) => {
  const epochs = moved.reduce((sum, each) => sum + (each.epochs ?? 0), 0);
  const facts = [
    [kept ? several(kept, "processor") : "nobody", "kept everything"],
    !decided ? null : [seconds(decided), "until all were back"],
    caught_up == null ? null : [seconds(caught_up), "until all was as before"],
    epochs ? [several(epochs, "epoch"), "done again"] : null,
    rows ? [several(rows, "row"), "processed again"] : null,
  ].filter(Boolean);
  return el("ul", { class: "costs" }, facts.map(([value, words]) => el("li", {}, el("b", {}, value), ` ${words}`)));
};

const move = ({ processor, failed, to, epochs, reasons }) =>
  el(
    "li",
    {},
    el("a", { href: `#/flow/${encodeURIComponent(processor)}` }, processor),
    el("span", {}, failed ? "failed, restored to " : "went back to ", el("b", {}, to[0]), epochs ? `, ${several(epochs, "epoch")} back` : ""),
    reasons.length > 0 && el("ul", { class: "reasons" }, reasons.map((each) => el("li", {}, each.words, el("span", { class: "faint" }, each.section)))),
  );

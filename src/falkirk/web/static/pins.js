// Pins: moments that are kept, what each of them holds back, making one and letting one go.

import { ask } from "./model.js";
import { bytes, day, el, several, together } from "./format.js";

export class PinsPart {
  constructor(changed) {
    this.changed = changed;
    this.list = el("ul", { class: "pins" });
    this.next = el("div", { "aria-live": "polite" });
    this.name = el("input", { id: "pin-name", autocomplete: "off", spellcheck: "false", placeholder: "before-may", required: true });
    this.why = el("input", { id: "pin-why", autocomplete: "off", required: true });
    this.outputs = el("input", { id: "pin-outputs", type: "checkbox" });
    this.element = el(
      "section",
      { class: "past" },
      el("h3", {}, "Pins"),
      el("p", { class: "soft" }, "A pin keeps the present, so that the flow can go back there and its state can be read as it was. Nothing beyond it is collected, and sources are not told that they may forget it."),
      this.list,
      el(
        "form",
        { class: "choose", onsubmit: (event) => (event.preventDefault(), this.plan()) },
        el("label", { for: "pin-name" }, "Name"),
        this.name,
        el("label", { for: "pin-why" }, "why"),
        this.why,
        el("label", { for: "pin-outputs", class: "check" }, this.outputs, " hold outputs back, too"),
        el("button", { type: "submit" }, "See what it keeps"),
      ),
      this.next,
    );
  }

  show(pins) {
    this.list.replaceChildren(...(pins.length ? pins.map((each) => this.line(each)) : [el("li", { class: "faint" }, "Nothing is pinned.")]));
  }

  line(pin) {
    return el(
      "li",
      {},
      el("div", { class: "head" }, el("b", {}, pin.name), el("span", { class: "soft" }, pin.why), el("button", { type: "button", class: "quiet", "aria-label": `Let ${pin.name} go`, onclick: () => this.remove(pin) }, "Let go")),
      el("p", { class: "soft" }, `${kept(pin)}.`, pin.outputs && " Outputs show nothing beyond it."),
      el("p", { class: "faint" }, `${held(pin.cost)}. ${pin.who}, ${day(pin.at)}`),
    );
  }

  async plan() {
    const given = { name: this.name.value.trim(), why: this.why.value.trim(), outputs: this.outputs.checked };
    try {
      const pin = await ask("/api/pins/plan", given);
      const go = el("button", { class: "primary", type: "button", onclick: () => this.act("/api/pins", given, `${given.name} is pinned.`) }, "Pin it");
      this.ready(el("h3", {}, `Pin ${given.name}`), el("p", { class: "lead" }, `${kept(pin)}.`), el("p", { class: "soft" }, "A flow that runs pins where it is by then."), el("div", { class: "buttons" }, go, this.cancel()));
      go.focus();
    } catch (error) {
      this.next.replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
  }

  remove(pin) {
    const typed = el("input", { id: "unpin-confirm", autocomplete: "off", spellcheck: "false" });
    const why = el("input", { id: "unpin-why", autocomplete: "off" });
    const go = el("button", { class: "danger", type: "submit", disabled: true }, "Let it go");
    typed.addEventListener("input", () => (go.disabled = typed.value !== pin.name));
    const submit = (event) => {
      event.preventDefault();
      if (!go.disabled) this.act("/api/pins/remove", { name: pin.name, confirm: typed.value, why: why.value }, `${pin.name} is gone.`);
    };
    this.ready(
      el("h3", {}, `Let ${pin.name} go`),
      el("p", { class: "lead" }, `${held(pin.cost)}; ${bytes(pin.cost.alone_bytes)} of it on its account alone. Afterwards nobody can go back there.`),
      el("form", { class: "confirm", onsubmit: submit }, el("label", { for: "unpin-why" }, "Why? It is kept."), why, el("label", { for: "unpin-confirm" }, "Type ", el("b", {}, pin.name), " to confirm."), typed, el("div", { class: "buttons" }, go, this.cancel())),
    );
    why.focus();
  }

  ready(...children) {
    this.next.replaceChildren(el("section", { class: "plan" }, ...children));
  }

  cancel() {
    return el("button", { type: "button", class: "quiet", onclick: () => this.next.replaceChildren() }, "Leave it");
  }

  async act(where, given, words) {
    try {
      await ask(where, given);
      this.next.replaceChildren(el("p", { class: "notice good" }, words));
      this.name.value = this.why.value = "";
    } catch (error) {
      this.next.replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
    this.changed();
  }
}

/** Where a pin keeps everybody; those in one place together. */
const kept = ({ frontiers }) => `Keeps ${together(Object.fromEntries(Object.entries(frontiers).map(([p, { words }]) => [p, words])), "up to")}`;

const held = ({ bytes: size, files, rows, epochs, times }) => times === 0 ? "Holds nothing back yet" : `Holds back ${bytes(size)} in ${several(files, "file")}, ${several(rows, "row")}, and ${several(epochs, "epoch")} that no source may forget`;

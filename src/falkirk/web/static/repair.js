// A person's rollback: choose, see the plan, confirm by typing. The plan that was seen is what runs.

import { ask, model } from "./model.js";
import { day, el, together } from "./format.js";
import { fatesOf, summary } from "./fates.js";

export class RepairView {
  constructor(host, name) {
    this.status = el("div");
    this.planned = el("div", { "aria-live": "polite" });
    this.past = el("section", { class: "past" });
    this.times = el("datalist", { id: "repair-times" });
    this.who = el("select", { id: "repair-who", onchange: () => this.chosen() });
    this.time = el("input", { id: "repair-time", list: "repair-times", autocomplete: "off", placeholder: "4, 4.2 or start", required: true });
    this.hint = el("p", { class: "faint hint" });
    this.form = el(
      "form",
      { class: "choose", onsubmit: (event) => (event.preventDefault(), this.plan()) },
      el("label", { for: "repair-who" }, "Processor"),
      this.who,
      el("label", { for: "repair-time" }, "keeps no more than"),
      this.time,
      this.times,
      el("button", { class: "primary", type: "submit" }, "See the plan"),
    );
    host.append(
      el(
        "div",
        { class: "page" },
        el(
          "header",
          {},
          el("h2", {}, "Repair"),
          el("p", {}, "Put a flow back to an earlier time, so that it goes on from there. Everybody else goes back just as far as it must. What was acknowledged is never undone, and of what was released only what a sink can take back."),
        ),
        this.status,
        this.form,
        this.hint,
        this.planned,
        this.past,
      ),
    );
    this.wanted = name;
    this.changed("graph");
    this.load();
  }

  changed(kind) {
    if (kind !== "graph" || !model.graph) return;
    const names = model.graph.processors.map((each) => each.name);
    this.who.replaceChildren(...names.map((name) => el("option", { value: name }, name)));
    if (names.includes(this.wanted)) this.who.value = this.wanted;
    this.chosen();
  }

  found(name) {
    this.who.value = name;
    this.chosen();
    this.time.focus();
  }

  /** Offers the times to which the chosen processor could go back. */
  async chosen() {
    const name = this.who.value;
    if (!name) return;
    try {
      const { choices } = await ask(`/api/explain/${encodeURIComponent(name)}`);
      if (this.who.value !== name) return;
      this.times.replaceChildren(...choices.map(({ time, words }) => el("option", { value: time }, words)));
      this.hint.textContent = choices.length
        ? `It could go back to ${offered(choices)}.`
        : "It has no checkpoint to go back to that others do not depend on.";
    } catch (error) {
      this.hint.textContent = error.message;
    }
  }

  async load() {
    try {
      const { refused, running, audit } = await ask("/api/repair");
      const words = refused ?? (running ? "This flow is running. It goes back by itself, and those who need not go back go on." : null);
      this.status.replaceChildren(words ? el("p", { class: "notice" }, words) : "");
      this.past.replaceChildren(...(audit.length ? [el("h3", {}, "Changes by hand so far"), el("ul", { class: "audit" }, audit.map(entry))] : []));
    } catch (error) {
      this.status.replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
  }

  async plan() {
    try {
      const plan = await ask("/api/repair/plan", { to: [`${this.who.value}@${this.time.value.trim()}`] });
      this.show(plan);
    } catch (error) {
      this.planned.replaceChildren(el("p", { class: "notice bad" }, error.message));
      this.load();
    }
  }

  show(plan) {
    if (plan.empty) {
      this.planned.replaceChildren(el("p", { class: "notice" }, "Nothing to do: the next run begins there, or before."));
      return;
    }
    const typed = el("input", { id: "repair-confirm", autocomplete: "off", spellcheck: "false" });
    const reason = el("input", { id: "repair-reason", autocomplete: "off" });
    const go = el("button", { class: "danger", type: "submit", disabled: true }, "Roll back");
    const check = () => (go.disabled = typed.value !== plan.flow || !reason.value.trim());
    typed.addEventListener("input", check);
    reason.addEventListener("input", check);
    const file = URL.createObjectURL(new Blob([plan.text], { type: "application/json" }));
    this.planned.replaceChildren(
      el(
        "section",
        { class: "plan" },
        el("h3", {}, "The plan"),
        el("p", { class: "lead" }, summary(plan, plan.moves)),
        plan.running && el("p", { class: "soft" }, "So far it goes back at most: the run keeps what it can."),
        plan.undo.length > 0 && el("p", { class: "soft" }, `What these outputs have shown of it is taken back: ${plan.undo.join(", ")}.`),
        plan.pins.length > 0 && el("p", { class: "soft" }, `These pins lie in what is undone, and go with it: ${plan.pins.join(", ")}.`),
        ...fatesOf(plan, plan.moves),
        el(
          "form",
          {
            class: "confirm",
            onsubmit: (event) => {
              event.preventDefault();
              if (!go.disabled) this.apply(plan, typed.value, reason.value);
            },
          },
          el("label", { for: "repair-reason" }, "Why? It is kept with the repair."),
          reason,
          el("label", { for: "repair-confirm" }, "Type ", el("b", {}, plan.flow), " to confirm."),
          typed,
          el("div", { class: "buttons" }, go, el("a", { href: file, download: "plan.json" }, "Save the plan as a file")),
        ),
        el("p", { class: "faint note" }, plan.running ? "This is done, or nothing if somebody has gone back in the meantime." : "Exactly this is done, or nothing if the store has changed in the meantime."),
      ),
    );
  }

  async apply(plan, confirm, reason) {
    try {
      await ask("/api/repair/apply", { id: plan.id, confirm, reason });
      this.planned.replaceChildren(el("p", { class: "notice good" }, plan.running ? "Done. The run goes on from there." : "Done. The next run goes on from there."));
    } catch (error) {
      const stale = error.status === 409;
      this.planned.replaceChildren(el("p", { class: "notice bad" }, `${stale ? "The plan is stale. " : ""}${error.message}`));
    }
    this.load();
    this.chosen();
  }
}

/** Where to, in a few words: pins by their names. */
const offered = (choices) => {
  const pins = choices.filter((each) => each.pin).map((each) => each.words);
  const times = choices.filter((each) => !each.pin).map((each) => each.words);
  const those = times.length > 6 ? [`${times.length} checkpoints from ${times[0]} to ${times.at(-1)}`] : times;
  return [...those, ...pins].join(", ");
};

const entry = ({ at, who, what, why, moved }) =>
  el(
    "li",
    {},
    el("span", { class: "faint" }, at == null ? "" : day(at)),
    el("div", {}, el("p", {}, why || what), el("p", { class: "faint" }, `${who}, ${what}${Object.keys(moved ?? {}).length ? ": " : ""}`, together(moved ?? {}, "to"))),
  );

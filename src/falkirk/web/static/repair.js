// A person's rollback: choose, see the plan, confirm by typing. The plan that was seen is what runs.

import { ask, model } from "./model.js";
import { day, el } from "./format.js";
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
          el("p", {}, "Put a stopped flow back to an earlier time, so that the next run goes on from there. Everybody else goes back just as far as it must. What was released or acknowledged is never undone."),
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
        ? `It could go back to ${choices.length > 6 ? `${choices.length} checkpoints, ${choices[0].words} to ${choices.at(-1).words}` : choices.map((each) => each.words).join(", ")}.`
        : "It has no checkpoint to go back to that others do not depend on.";
    } catch (error) {
      this.hint.textContent = error.message;
    }
  }

  async load() {
    try {
      const { refused, audit } = await ask("/api/repair");
      this.status.replaceChildren(refused ? el("p", { class: "notice" }, `This flow runs, and a repair needs one that is stopped: ${refused}.`) : "");
      this.past.replaceChildren(...(audit.length ? [el("h3", {}, "Repairs so far"), el("ul", { class: "audit" }, audit.map(entry))] : []));
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
        el("p", { class: "faint note" }, "Exactly this is done, or nothing if the store has changed in the meantime."),
      ),
    );
  }

  async apply(plan, confirm, reason) {
    try {
      await ask("/api/repair/apply", { id: plan.id, confirm, reason });
      this.planned.replaceChildren(el("p", { class: "notice good" }, "Done. The next run goes on from there."));
    } catch (error) {
      const stale = error.status === 409;
      this.planned.replaceChildren(el("p", { class: "notice bad" }, `${stale ? "The plan is stale. " : ""}${error.message}`));
    }
    this.load();
    this.chosen();
  }
}

const entry = ({ at, who, what, why, moved }) =>
  el(
    "li",
    {},
    el("span", { class: "faint" }, at == null ? "" : day(at)),
    el("div", {}, el("p", {}, `${why}`), el("p", { class: "faint" }, `${who}, ${what}: `, Object.entries(moved ?? {}).map(([p, to]) => `${p} to ${to}`).join(", "))),
  );

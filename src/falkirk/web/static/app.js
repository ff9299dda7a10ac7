// The frame: which view is shown, how the flow is, light or dark.

import { connect, model, subscribe } from "./model.js";
import { el, say, seconds } from "./format.js";
import { FlowView } from "./flow.js";
import { TimesView } from "./times.js";
import { RecoveriesView } from "./recoveries.js";
import { WhatIfView } from "./whatif.js";
import { StorageView } from "./storage.js";
import { RepairView } from "./repair.js";

const VIEWS = {
  flow: ["Flow", FlowView],
  times: ["Times", TimesView],
  recoveries: ["Recoveries", RecoveriesView],
  "what-if": ["What if", WhatIfView],
  storage: ["Storage", StorageView],
  repair: ["Repair", RepairView],
};
const THEMES = { auto: ["◐", "as the system has it"], light: ["☀", "light"], dark: ["☾", "dark"] };

const main = document.querySelector("#main");
const find = document.querySelector("#find");
let view = null;
let shown = null;

const route = () => {
  const [, name = "flow", ...rest] = location.hash.split("/");
  return [VIEWS[name] ? name : "flow", rest.length ? decodeURIComponent(rest.join("/")) : null];
};

const show = () => {
  const [name, chosen] = route();
  if (name === shown && view && chosen && view.found && name !== "repair") {
    view.found(chosen);
    return;
  }
  view?.close?.();
  main.replaceChildren();
  main.scrollTop = 0;
  const [title, View] = VIEWS[name];
  view = new View(main, chosen);
  shown = name;
  if (chosen && name === "flow" && model.graph) view.found(chosen);
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else {
      link.removeAttribute("aria-current");
    }
  }
  document.title = `${title} · ${model.graph?.flow ?? "falkirk"}`;
};

const STATES = {
  starting: "starting",
  running: "running",
  live: "running elsewhere",
  ended: "ended",
  free: "stopped",
  dead: "its process was killed",
  expired: "its process is out of reach",
};

const tellState = () => {
  const line = document.querySelector("#flow-state");
  let words = STATES[model.state] ?? model.state;
  if (model.state === "running" && model.uptime) words += ` for ${seconds(model.uptime)}`;
  if (!model.live) words += ", seen from its store";
  if (model.error) words = model.error;
  if (!model.connected) words = "connection lost, trying again";
  say(line, words);
  line.title = words;
  const good = model.connected && !model.error;
  line.className = `state${good && ["running", "live"].includes(model.state) ? " is-live" : ""}${good ? "" : " is-bad"}`;
  say(document.querySelector("#flow-name"), model.graph?.flow ?? "falkirk");
};

const tellCount = () => {
  const link = document.querySelector('#views a[data-view="recoveries"]');
  link.querySelector(".count")?.remove();
  if (model.recoveries.length) link.append(el("span", { class: "count" }, String(model.recoveries.length)));
};

const setTheme = (theme) => {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem("falkirk-theme", theme);
  const [sign, words] = THEMES[theme];
  const button = document.querySelector("#theme");
  button.textContent = sign;
  button.title = `Colours: ${words}`;
  button.setAttribute("aria-label", `Colours: ${words}. Press to change.`);
  button.onclick = () => {
    const all = Object.keys(THEMES);
    setTheme(all[(all.indexOf(theme) + 1) % all.length]);
  };
};

const start = () => {
  const nav = document.querySelector("#views");
  nav.append(...Object.entries(VIEWS).map(([name, [title]]) => el("a", { href: `#/${name}`, "data-view": name }, title)));
  setTheme(THEMES[localStorage.getItem("falkirk-theme")] ? localStorage.getItem("falkirk-theme") : "auto");
  find.addEventListener("change", () => {
    const name = find.value.trim();
    if (!model.graph?.processors.some((each) => each.name === name)) return;
    find.value = "";
    if (view.found) view.found(name);
    else location.hash = `#/flow/${encodeURIComponent(name)}`;
  });
  addEventListener("keydown", (event) => {
    const writing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !writing) {
      event.preventDefault();
      find.focus();
    } else if (event.key === "Escape") {
      if (event.target === find) main.focus();
      else view?.escape?.();
    }
  });
  addEventListener("hashchange", show);
  subscribe((kind) => {
    tellState();
    tellCount();
    if (kind === "graph") {
      document.querySelector("#processor-names").replaceChildren(...model.graph.processors.map((each) => el("option", { value: each.name })));
      document.title = `${VIEWS[shown][0]} · ${model.graph.flow}`;
    }
    view.changed(kind);
    const [name, chosen] = route();
    if (kind === "graph" && chosen && name === "flow") view.found(chosen);
  });
  show();
  connect();
};

start();

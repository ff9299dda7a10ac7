// What becomes of processors in a supposed failure or a planned repair.

import { bytes, el, listed, several } from "./format.js";

export const looks = (fates, moves) =>
  new Map(
    fates.map((fate) => {
      if (fate.failed) return [fate.processor, "fails"];
      const stays = fate.keeps_all || (moves && !moves.includes(fate.processor));
      return [fate.processor, stays ? "keeps" : "goes-back"];
    }),
  );

const outcome = (fate) => {
  const to = fate.goes_to.words;
  if (to === "nothing") return fate.failed ? "fails, starts from nothing" : "starts from nothing";
  return fate.failed ? `fails, restored to ${to}` : `goes back to ${to}`;
};

const stretch = (times) => (times.length > 1 ? `${times[0]} to ${times.at(-1)}` : times[0] ?? "");

/** Those who move, what is read again, what is sent again. */
export const fatesOf = (found, moves) => {
  const look = looks(found.fates, moves);
  const moved = found.fates
    .filter((fate) => look.get(fate.processor) !== "keeps")
    .sort((a, b) => b.failed - a.failed);
  const parts = [
    el(
      "ul",
      { class: "fates" },
      moved.map((fate) =>
        el(
          "li",
          { class: look.get(fate.processor) },
          el("b", {}, fate.processor),
          el("span", {}, outcome(fate)),
          el("span", { class: "faint" }, [stretch(fate.undone) && `${stretch(fate.undone)} again`, fate.bytes ? bytes(fate.bytes) : ""].filter(Boolean).join(", ")),
        ),
      ),
    ),
  ];
  if (found.reread.length) {
    parts.push(
      el("h3", {}, "Read again"),
      el("ul", { class: "plain" }, found.reread.map((each) => el("li", {}, el("b", {}, each.input), ` ${stretch(each.epochs)}`))),
    );
  }
  if (found.resent.length) {
    parts.push(
      el("h3", {}, "Sent again from logs"),
      el("ul", { class: "plain" }, found.resent.map((each) => el("li", {}, el("b", {}, each.edge), ` ${several(each.messages, "message")}, ${bytes(each.bytes)}`))),
    );
  }
  return parts;
};

export const summary = (found, moves) => {
  const look = [...looks(found.fates, moves)];
  const back = look.filter(([, state]) => state === "goes-back").map(([name]) => name);
  const kept = look.filter(([, state]) => state === "keeps").length;
  const lost = found.fates.reduce((sum, fate) => sum + fate.bytes, 0);
  const also = back.length ? `${listed(back)} ${back.length === 1 ? "goes" : "go"} back` : "Nobody else goes back";
  return `${also}; ${several(kept, "processor")} ${kept === 1 ? "keeps" : "keep"} everything. ${lost ? `${bytes(lost)} of what is stored is made again.` : "Nothing that is stored is lost."}`;
};

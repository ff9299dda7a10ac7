// Values as people read them, and elements as short to write.

export const bytes = (count) => {
  if (count == null) return "–";
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (count < 1024) return unit === "B" ? `${count} B` : `${count.toFixed(count < 10 ? 1 : 0)} ${unit}`;
    count /= 1024;
  }
  return `${count.toFixed(1)} TiB`;
};

export const number = (count) => {
  if (count == null) return "–";
  if (count < 10 && count % 1) return count.toFixed(1);
  if (count < 10_000) return Math.round(count).toLocaleString("en");
  for (const unit of ["k", "M", "G"]) {
    count /= 1000;
    if (count < 1000) return `${count.toFixed(count < 10 ? 1 : 0)}${unit}`;
  }
  return `${Math.round(count)}G`;
};

export const seconds = (count) => {
  if (count == null) return "–";
  if (count === 0) return "0 s";
  if (count < 0.001) return "< 1 ms";
  if (count < 1) return `${Math.round(count * 1000)} ms`;
  if (count < 90) return `${count.toFixed(count < 10 ? 1 : 0)} s`;
  if (count < 5400) return `${Math.round(count / 60)} min`;
  return count < 172_800 ? `${Math.round(count / 3600)} h` : `${Math.round(count / 86_400)} days`;
};

export const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");
export const day = (at) => new Date(at * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const several = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const listed = (names, most = 3) => {
  if (names.length <= most) return names.join(names.length === 2 ? " and " : ", ");
  return `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
};
/** What is said of many, with those of whom the same is said in one place. */
export const together = (said, by, most = 6) => {
  const places = new Map();
  for (const [name, words] of Object.entries(said)) places.set(words, [...(places.get(words) ?? []), name]);
  const who = (names) => (names.length > most ? several(names.length, "processor") : names.join(", "));
  return [...places].map(([words, names]) => `${who(names)} ${by} ${words}`).join("; ");
};
export const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

const SVG = "http://www.w3.org/2000/svg";
const filled = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((each) => each != null && each !== false));
  return element;
};

export const el = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

/** Sets an attribute only if it differs, so that nothing is laid out again without need. */
export const set = (element, name, value) => {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
};
export const say = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

// Search, copy buttons, light and dark mode. The pages also work without this script.
"use strict";

// --- search: the index is loaded as a script with the first query, because fetch does not work from disk

const form = document.querySelector("form"), asked = document.getElementById("asked"), answers = document.getElementById("answers");
let sections = null, chosen = -1;

window.found = (rows) => {
  sections = rows.map(([page, group, anchor, title, text]) =>
    ({ page, group, anchor, title, text, words: fold(title), names: fold(title).split(", "), name: fold(group), body: fold(text) }));
  answer();
};

function fold(text) { return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/[-_]/g, " "); }

function load() {
  if (document.getElementById("found")) return;
  const script = document.createElement("script");
  script.id = "found";
  script.src = "found.js";
  document.head.append(script);
}

// A query word matches the beginning of a word: best in a heading or row name, then in the page title, then in the text.
function weight(section, words) {
  let sum = 0;
  for (const word of words) {
    const begins = new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "u");
    const at = section.body.search(begins);
    const best = section.names.includes(word) ? 40 : begins.test(section.words) ? 20 : begins.test(section.name) ? 8 : at >= 0 ? (at < 120 ? 6 : 3) : 0;
    if (!best) return 0;
    sum += best + (at >= 0 ? 1 : 0);
  }
  const whole = words.join(" ");
  return sum + (section.names.includes(whole) ? 40 : section.words.startsWith(whole) ? 10 : 0) + (section.body.includes(whole) ? 4 : 0);
}

function answer() {
  const words = fold(asked.value).split(/\s+/).filter(Boolean);
  chosen = -1;
  answers.replaceChildren();
  open(words.length > 0 && sections !== null);
  if (!words.length || !sections) return;
  const best = sections.map((section) => [weight(section, words), section]).filter(([points]) => points)
    .sort(([a], [b]) => b - a).slice(0, 12);
  for (const [, section] of best) answers.append(line(section, words));
  if (!best.length) answers.append(Object.assign(document.createElement("li"), { className: "none", textContent: "No results." }));
  choose(0);
}

function line(section, words) {
  const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
  item.role = "option";
  item.id = `answer-${answers.children.length}`;
  link.href = `${section.page}#${section.anchor}`;
  link.tabIndex = -1;
  link.append(...marked(section.title, words));
  const at = Math.max(0, Math.min(...words.map((word) => section.body.indexOf(word)).filter((place) => place >= 0), section.text.length) - 50);
  const from = at && at < section.text.length ? at : 0;
  where.append(section.group, " · ", ...marked((from ? "…" : "") + section.text.slice(from, from + 140), words));
  link.append(where);
  item.append(link);
  return item;
}

function marked(text, words) {
  const any = new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")}))`, "giu");
  return text.split(any).map((part, index) => index % 2 ? Object.assign(document.createElement("mark"), { textContent: part }) : part);
}

function open(yes) {
  answers.hidden = !yes;
  asked.setAttribute("aria-expanded", String(yes));
}

function leave() {
  asked.value = "";
  open(false);
  asked.blur();
}

function choose(index) {
  const items = [...answers.querySelectorAll("[role=option]")];
  if (!items.length) return;
  chosen = (index + items.length) % items.length;
  items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  items[chosen].scrollIntoView({ block: "nearest" });
  asked.setAttribute("aria-activedescendant", items[chosen].id);
}

asked.addEventListener("focus", load);
asked.addEventListener("input", answer);
asked.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); choose(chosen + step); }
  if (event.key === "Escape") leave();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const link = answers.querySelector("[aria-selected=true] a");
  if (link) { leave(); location.href = link.href; }
});
answers.addEventListener("click", leave);
document.addEventListener("click", (event) => { if (!form.contains(event.target)) open(false); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input")) { event.preventDefault(); asked.focus(); }
});
form.hidden = false;

// --- copy: what can be run, without prompts and without output

for (const block of document.querySelectorAll(".code")) {
  const button = Object.assign(document.createElement("button"), { className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    const code = block.querySelector("code").cloneNode(true);
    const typed = code.matches(".console, .pycon");
    if (typed) code.querySelectorAll(".gp, .go").forEach((part) => part.remove());
    const text = code.textContent.replace(/\n+$/, "\n");
    await navigator.clipboard.writeText(typed ? text.replace(/\n{2,}/g, "\n") : text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

for (const heading of document.querySelectorAll("main :is(h2, h3)[id]")) {
  const link = Object.assign(document.createElement("a"), { className: "link", href: `#${heading.id}`, textContent: "#" });
  link.setAttribute("aria-label", "Link to this heading");
  heading.append(link);
}

// --- light or dark: as the system has it, until the button says otherwise

const shade = document.querySelector(".shade"), root = document.documentElement;
const dark = () => (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
root.style.colorScheme = localStorage.getItem("shade") ?? "";
shade.hidden = false;
shade.addEventListener("click", () => {
  root.style.colorScheme = dark() ? "light" : "dark";
  localStorage.setItem("shade", root.style.colorScheme);
});

// --- the page being read is in sight in the list of pages, which may be longer than the screen

const pages = document.querySelector("nav"), here = pages.querySelector("[aria-current]");
const show = () => { pages.scrollTop = Math.max(0, here.offsetTop - pages.clientHeight / 2); };
pages.addEventListener("toggle", show);
show();

// Starts the report: panels, charts, tooltips, and the navigation.

const element = (name, properties) => Object.assign(document.createElement(name), properties);

wireAll();
const allDrawn = drawAll();
for (const word of document.querySelectorAll(".hint")) attachHint(word, document.getElementById("hint"));
followSections(document.querySelectorAll("main section[id]"));
wireShare();
wireTables();

// Draws visible charts first, then those in open sections, then the others while the browser is idle; charts that
// become visible meanwhile are drawn at once.
async function drawAll() {
  const figures = [...document.querySelectorAll("figure.picture")];
  if (!figures.length) return; // Vega is not loaded
  const shown = (figure) => figure.checkVisibility();
  const draw = (some) => Promise.all(some.filter((figure) => !figure.dataset.drawn).map(mount));
  const inside = (place) => draw(figures.filter((figure) => place.contains(figure) && shown(figure)));
  await draw(figures.filter((figure) => shown(figure) && figure.getBoundingClientRect().top < innerHeight));
  document.addEventListener("toggle", ({ target }) => inside(target), true);
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) inside(target);
  });
  for (const section of document.querySelectorAll("main > section")) near.observe(section);
  for (const figure of [...figures.filter(shown), ...figures]) {
    if (figure.dataset.drawn) continue;
    await new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done, { timeout: 200 }));
    await draw([figure]);
  }
}

function wireShare() {
  const share = document.querySelector(".share");
  if (!share) return;
  share.hidden = false;
  document.getElementById("print").addEventListener("click", () => allDrawn.then(() => print()));
  document.getElementById("link")?.addEventListener("click", async ({ target }) => {
    history.replaceState(null, "", written());
    try {
      await navigator.clipboard.writeText(location.href);
      target.textContent = "Link copied";
    } catch {
      target.textContent = "Copy the link from the address bar";
    }
  });
  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

// Adds a CSV button to each table; limits of intervals get columns of their own.
function wireTables() {
  for (const figure of document.querySelectorAll("figure.grid")) {
    const table = figure.querySelector("table");
    const label = `Save as CSV: ${figure.querySelector(".scroll").ariaLabel}`;
    const button = element("button", { type: "button", textContent: "CSV", ariaLabel: label, title: label });
    button.addEventListener("click", () => saveCsv(tableLines(table)));
    const tools = element("div", { className: "tools", role: "group", ariaLabel: "Table tools" });
    tools.append(button);
    figure.querySelector(".scroll").after(tools);
  }
}

function tableLines(table) {
  const words = (cell) => cell.textContent.trim().replace(/\s+/g, " ");
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => partsOf(words(cell))));
  const ends = ["", " low", " high", " more"];
  const kept = [...table.tHead.rows[0].cells].flatMap((cell, k) =>
    ends.flatMap((end, part) => (!part || rows.some((row) => row[k]?.[part]) ? [[words(cell) + end, k, part]] : [])));
  return [kept.map(([name]) => name), ...rows.map((row) => kept.map(([, k, part]) => row[k]?.[part] ?? ""))];
}

// Splits a cell into value, limits and the rest, with numbers in machine-readable form.
function partsOf(text) {
  const plain = (part) => {
    const bare = part.trim().replaceAll("−", "-").replace(/(?<=\d)\s(?=\d{3}(?!\d))/g, "");
    return /^[+-]?\d+(\.\d+)?$/.test(bare) ? bare : part.trim();
  };
  const found = /^([^[]*)\[([^,\]]*), ([^,\]]*)\](.*)$/.exec(text);
  return found ? found.slice(1).map(plain) : [plain(text)];
}

function saveCsv(lines) {
  save(new Blob([lines.map((cells) => `${cells.map(cellText).join(",")}\n`).join("")], { type: "text/csv" }), "csv");
}

// Prefixes text that a spreadsheet would evaluate with an apostrophe.
function cellText(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `${fileName()}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = () => document.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "chart";

// One tooltip element for all hints, above the page so that scrolling tables do not clip it.
function attachHint(word, box) {
  const text = word.title;
  word.removeAttribute("title");
  word.setAttribute("aria-description", text);
  const show = () => {
    box.textContent = text;
    box.showPopover();
    const below = word.getBoundingClientRect();
    const left = Math.min(below.left, document.documentElement.clientWidth - box.offsetWidth - 12);
    box.style.left = `${Math.max(12, left)}px`;
    box.style.top = `${below.bottom + 6}px`;
  };
  const hide = () => box.hidePopover();
  for (const event of ["pointerenter", "focus", "click"]) word.addEventListener(event, show);
  for (const event of ["pointerleave", "blur"]) word.addEventListener(event, hide);
  word.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
}

// Navigation links open collapsed sections without changing the URL, which holds the states of panels.
function followSections(sections) {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  for (const [id, link] of links) link.addEventListener("click", (event) => {
    event.preventDefault();
    openSection(document.getElementById(id));
  });
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) openSection(target);
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    const first = [...sections].find((section) => inView.has(section));
    for (const [id, link] of links) link.toggleAttribute("aria-current", id === first?.id);
  }, { rootMargin: "-15% 0px -55% 0px" });
  for (const section of sections) observer.observe(section);
}

function openSection(section) {
  const folded = section.querySelector(":scope > details");
  if (folded) folded.open = true;
  section.scrollIntoView();
  section.focus({ preventScroll: true });
}

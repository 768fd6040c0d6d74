// Starts the report: panels, charts, tooltips, and the navigation.

const element = (name, properties) => Object.assign(document.createElement(name), properties);

wireAll();
const allDrawn = drawAll();
for (const word of document.querySelectorAll(".hint")) attachHint(word, document.getElementById("hint"));
followSections(document.querySelectorAll(document.querySelector(".part") ? ".part" : "main section[id]"));
wireShare();
wireTables();
wireTabs();
wireMenus();

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
  const depths = [...share.querySelectorAll("[data-depth]")];
  if (depths.length) registerChoice("depth", depths, ({ dataset }) => dataset.depth, (depth) => {
    document.body.classList.toggle("plain", depth === "plain");
  });
  const printed = (all) => () => allDrawn.then(() => {
    document.body.classList.toggle("all", all);
    print();
  });
  document.getElementById("print").addEventListener("click", printed(false));
  document.getElementById("print-all")?.addEventListener("click", printed(true));
  document.getElementById("link")?.addEventListener("click", async ({ target }) => {
    history.replaceState(null, "", written());
    try {
      await navigator.clipboard.writeText(location.href);
      target.textContent = "Link copied";
    } catch {
      target.textContent = "Copy the link from the address bar";
    }
  });
  const inSummary = ".section.printed > details:not([open]), .verdict > details:not([open])";
  const folded = () => document.querySelectorAll(document.body.matches(".all, :not(:has(.part))") ? "details:not([open], .menu)" : inSummary);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

// The charts of a panel, one of which is shown.
function wireTabs() {
  for (const tabs of document.querySelectorAll(".tabs")) {
    const charts = tabs.parentElement.querySelectorAll(".tab");
    registerChoice("chart", [...tabs.querySelectorAll("button")], ({ dataset }) => dataset.tab, (key) => {
      for (const chart of charts) {
        chart.hidden = chart.dataset.shown !== key;
        const figure = chart.querySelector("figure");
        if (!chart.hidden && !figure.dataset.drawn) mount(figure);
      }
    });
  }
}

// A menu closes when something else is clicked, and by the Escape key.
function wireMenus() {
  const open = () => document.querySelectorAll("details.menu[open]");
  addEventListener("click", ({ target }) => {
    for (const menu of open()) if (!menu.contains(target)) menu.open = false;
  });
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}

// Sorts the rows of a table by a column: numbers by their size, downwards first.
function sortable(table) {
  const [head] = table.tHead.rows;
  if (table.tBodies[0].rows.length < 2) return;
  [...head.cells].forEach((cell, k) => {
    if (cell.tagName !== "TH") return;
    const button = element("button", { type: "button", className: "sort", ariaLabel: `Sort by ${cell.textContent.trim()}` });
    button.addEventListener("click", () => {
      const up = cell.ariaSort === "descending";
      for (const other of head.cells) other.ariaSort = null;
      cell.ariaSort = up ? "ascending" : "descending";
      const keyOf = (row) => partsOf(row.cells[k].textContent.trim().replace(/\s+/g, " "))[0];
      const order = (a, b) => {
        const [x, y] = [Number(a), Number(b)];
        if (Number.isNaN(x) || Number.isNaN(y) || a === "" || b === "") return Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b);
        return up ? x - y : y - x;
      };
      const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row), row]);
      const words = rows.every(([key]) => Number.isNaN(Number(key)));
      rows.sort(([a], [b]) => (words && !up ? b.localeCompare(a) : order(a, b)));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
    cell.append(button);
  });
}

// Makes tables sortable and adds a CSV button to each; limits of intervals get columns of their own.
function wireTables() {
  for (const figure of document.querySelectorAll("figure.grid")) {
    const table = figure.querySelector("table");
    const label = `Save as CSV: ${figure.querySelector(".scroll").ariaLabel}`;
    const button = element("button", { type: "button", textContent: "CSV", ariaLabel: label, title: label });
    const name = figure.closest("section").id || "table";
    button.addEventListener("click", () => saveCsv(tableLines(table), name));
    const tools = element("div", { className: "tools", role: "group", ariaLabel: "Table tools" });
    tools.append(button);
    figure.querySelector(".scroll").after(tools);
    sortable(table);
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

function saveCsv(lines, name) {
  save(new Blob([lines.map((cells) => `${cells.map(cellText).join(",")}\n`).join("")], { type: "text/csv" }), "csv", name);
}

// Prefixes text that a spreadsheet would evaluate with an apostrophe.
function cellText(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(blob, ending, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `${fileName(name)}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The name of the report and that of the chart or section: credit-csv-roc.
const fileName = (name) => `${document.title} ${name}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "chart";

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
  for (const link of document.querySelectorAll('.counts a')) link.addEventListener("click", (event) => {
    event.preventDefault();
    openSection(document.getElementById(link.hash.slice(1)));
  });
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

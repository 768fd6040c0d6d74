// The page around the report: uploads, the live check of the set-up, progress, the frame and the rows beside it.

const $ = (selector, within = document) => within.querySelector(selector);

let toastTimer = 0;
function toast(text) {
  clearTimeout(toastTimer);
  $("#toast").textContent = text;
  toastTimer = setTimeout(() => ($("#toast").textContent = ""), 8000);
}

// The problem that an answer names, in words; null if the answer is fine.
async function problemOf(answer) {
  if (answer.ok) return null;
  try {
    return (await answer.json()).problem;
  } catch {
    return "scorespace did not answer. Is it still running?";
  }
}

async function ask(address, options) {
  try {
    return await fetch(address, options);
  } catch {
    return new Response("", { status: 503 });
  }
}

// --- home

async function upload(file) {
  const state = $("#upload-state");
  state.textContent = `Uploading ${file.name}…`;
  const answer = await ask(`/upload?${new URLSearchParams({ name: file.name })}`, { method: "PUT", body: file });
  const problem = await problemOf(answer);
  if (problem) state.textContent = problem;
  else location.href = (await answer.json()).address;
}

function wireHome() {
  const drop = $("#drop"), input = $("#upload");
  input.addEventListener("change", () => input.files.length && upload(input.files[0]));
  for (const kind of ["dragover", "dragleave", "drop"]) addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });
  fillCards();
}

// One after the other, so that large files are not counted at the same time.
async function fillCards() {
  for (const card of document.querySelectorAll("[data-card]")) {
    const answer = await ask(`/card?${card.dataset.card}`);
    $(".counts", card).textContent = (await problemOf(answer)) ?? (await answer.json()).text;
  }
}

// --- set-up

function wireSetup(form) {
  let asked = 0;
  const check = async () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const mine = ++asked;
    const answer = await ask(`/check?${query}`);
    const problem = await problemOf(answer.clone());
    if (mine !== asked) return;
    const focus = document.activeElement?.name === "positive" ? document.activeElement.value : null;
    if (problem) return toast(problem);
    $("#check").innerHTML = await answer.text();
    if (focus !== null) $(`#check input[value="${CSS.escape(focus)}"]`)?.focus();
    history.replaceState(null, "", `/setup?${query}`);
  };
  form.addEventListener("change", (event) => {
    const menu = event.target;
    if (menu.name === "role") {
      menu.closest("th").className = menu.value ? "used" : "";
      for (const other of form.querySelectorAll("select[name=role]")) if (other !== menu) follow(menu, other);
    }
    check();
  });
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });
  addEventListener("pageshow", () => {
    for (const field of form.elements) if (field.name) field.disabled = false;
  });
}

// There is one truth, weight, group and fold; columns of one model or rater change together.
function follow(menu, other) {
  const [role] = menu.value.split(":");
  if (["truth", "weight", "group", "fold"].includes(role) && other.value.startsWith(`${role}:`)) other.value = "";
  const shared = [...other.options].some((option) => option.value === menu.value && menu.value);
  if (shared) other.value = menu.value;
  const left = menu.dataset.before;
  if (left && !menu.value && other.value === left) other.value = "";
  other.closest("th").className = other.value ? "used" : "";
  other.dataset.before = other.value;
}

// --- report

function wireReport(stage) {
  const query = stage.dataset.query, frame = $("#frame");
  let shown = {}; // model and threshold of the operating point
  const open = () => {
    $("#working").hidden = true;
    frame.hidden = false;
    frame.src = `/report?${query}${location.hash}`;
  };
  if (stage.dataset.ready) open();
  else followProgress(query, open);
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== location.origin) return;
    if (event.data.hash !== undefined && event.data.hash !== location.hash) history.replaceState(null, "", event.data.hash || location.search);
    if (event.data.shown) shown = event.data.shown;
    if (event.data.rows) showRows(query, event.data.rows);
  });
  $("#stop").addEventListener("click", async () => {
    await ask("/stop", { method: "POST", body: query });
    location.href = `/setup?${query}`;
  });
  $("#show-rows")?.addEventListener("click", () => showRows(query, shown));
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(query, button.dataset.copy, shown));
  $("#save").addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await ask("/save", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
    const problem = await problemOf(answer.clone());
    if (problem) return toast(problem);
    const { saved, next } = await answer.json();
    toast(`Saved as ${saved}.`);
    event.target.elements.name.value = next;
  });
}

// The operating point of the report: it stays in the address through filters, slices and comparisons.
function keepView(address) {
  location.href = address + location.hash;
}

function followProgress(query, open) {
  const events = new EventSource(`/events?${query}`);
  events.addEventListener("progress", (event) => {
    const { step, share, seconds } = JSON.parse(event.data);
    $("#step").textContent = step;
    if (share === null) $("#share").removeAttribute("value");
    else $("#share").value = share;
    $("#seconds").textContent = `${seconds} s`;
  });
  events.addEventListener("done", () => (events.close(), open()));
  events.addEventListener("failed", () => (events.close(), location.replace(`/setup?${query}&failed=1`)));
  events.addEventListener("error", () => ($("#step").textContent = "scorespace does not answer. Is it still running?"));
}

async function copy(query, kind, shown) {
  const state = new URLSearchParams(location.hash.slice(1));
  if (shown.threshold !== undefined && state.get("at") !== "shown") state.set("at", shown.threshold); // not "top10%"
  const answer = await ask(`/copy?${query}&${new URLSearchParams({ fragment: state })}`);
  const problem = await problemOf(answer.clone());
  if (problem) return toast(problem);
  const text = (await answer.json())[kind];
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied: ${text}`);
  } catch {
    toast(text);
  }
}

// --- rows

async function showRows(query, wanted) {
  const panel = $("#rows");
  const answer = await ask(`/rows?${query}&${new URLSearchParams(wanted)}`);
  const problem = await problemOf(answer.clone());
  if (problem) return toast(problem);
  panel.innerHTML = await answer.text();
  panel.hidden = false;
  $("#rows-title").focus();
  const form = $("#rows-form");
  const values = (changes = {}) => {
    const { kind, ...fields } = { ...Object.fromEntries(new FormData(form)), ...changes };
    if (kind === "hard") fields.hard = "1";
    else if (kind) fields.cell = kind;
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  };
  form.addEventListener("submit", (event) => (event.preventDefault(), showRows(query, values())));
  form.addEventListener("change", (event) => ["SELECT", "checkbox"].includes(event.target.type === "checkbox" ? "checkbox" : event.target.tagName) && showRows(query, values()));
  for (const button of panel.querySelectorAll("[data-sort]")) button.addEventListener("click", () => {
    const again = form.elements.sort.value === button.dataset.sort && !form.elements.descending.value;
    showRows(query, values({ sort: button.dataset.sort, descending: again ? "1" : "" }));
  });
  for (const button of panel.querySelectorAll("[data-page]")) button.addEventListener("click", () => showRows(query, values({ page: button.dataset.page })));
  $(".close", panel).addEventListener("click", closeRows);
}

function closeRows() {
  $("#rows").hidden = true;
  $("#show-rows")?.focus();
}

addEventListener("keydown", (event) => event.key === "Escape" && $("#rows") && !$("#rows").hidden && closeRows());
for (const menu of document.querySelectorAll("select[data-go]")) menu.addEventListener("change", () => menu.value && keepView(menu.value));
for (const link of document.querySelectorAll("a[data-view]")) link.addEventListener("click", (event) => (event.preventDefault(), keepView(link.getAttribute("href"))));
if ($("#drop")) wireHome();
if ($("#setup")) wireSetup($("#setup"));
if ($(".stage")) wireReport($(".stage"));

// Interactive panels. Each has a state, and shows values computed by Python for that state. The URL fragment holds the
// states, so that a link restores the view.

const ARRAYS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, u1: Uint8Array };
const PAUSE = 250; // milliseconds
const panels = [];
const views = []; // other parts of the state: `written` and `read`, as of panels

// A panel: `read` makes a state from the URL and `written` the reverse; `found` returns the texts by name, the row of the
// operating point, the selected model, and `seen` if the charts depend on more than the model. `along` maps a dragged
// pointer to a state, `hover` returns tooltip rows, and `swept` the rows of charts of the selected model only.
function registerPanel(id, parts) {
  const panel = document.getElementById(id);
  if (!panel) return null;
  const controller = { panel, form: panel.querySelector("form"), content: readContent(panel), followers: new Set(), pending: false, row: null, model: null };
  panels.push(Object.assign(controller, parts));
  return controller;
}

function readContent(panel) {
  const content = JSON.parse(panel.querySelector("script").textContent);
  for (const model of content.models) {
    unpackAll(model);
    if (model.shown) model.shown = model.shown.map(measured);
    if (model.cost) model.cost = measured(model.cost);
  }
  return content;
}

// Decodes value and limits from integers in units of the last decimal; infinite values are encoded as floats.
function measured([value, low, high, places]) {
  const decimal = (side) => {
    if (side instanceof Float64Array) return side;
    const absent = 1 - 2 ** (8 * side.BYTES_PER_ELEMENT - 1); // encodes undefined values
    return Float64Array.from(side, (whole, k) => (whole === absent ? NaN : whole / 10 ** places[k]));
  };
  return [decimal(value), decimal(low), decimal(high), places];
}

function unpackAll(object) {
  for (const name in object) {
    const value = object[name];
    if (typeof value === "string" && !["name", "words"].includes(name)) object[name] = unpacked(value);
    else if (value && typeof value === "object" && !["words", "labels"].includes(name)) unpackAll(value);
  }
}

function unpacked(text) {
  const [kind, code] = text.split(" ");
  if (!(kind in ARRAYS)) return text;
  return new ARRAYS[kind](Uint8Array.from(atob(code ?? ""), (character) => character.charCodeAt(0)).buffer);
}

// The panel that a chart is linked to: the one that contains it, or the first.
const panelOf = (figure) => panels.find(({ panel }) => panel.contains(figure)) ?? panels[0];

// Changes the state; the URL is updated after a pause, because browsers limit the number of updates.
let pending = 0;
function change(controller, next, { still = true } = {}) {
  controller.state = { ...controller.state, ...next };
  clearTimeout(pending);
  if (still) remember();
  else pending = setTimeout(remember, PAUSE);
  show(controller);
}

const written = () => `#${new URLSearchParams(Object.assign({}, ...[...panels, ...views].map((part) => part.written(part))))}`;

function remember() {
  clearTimeout(pending);
  try {
    if (written() !== location.hash) history.pushState(null, "", written());
  } catch {} // some frames do not allow it
}

function readAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  for (const view of views) view.read(query);
  for (const controller of panels) {
    controller.state = controller.read(controller, query);
    show(controller);
  }
}

// One of several buttons that is pressed; `name` is its parameter in the address.
function registerChoice(name, buttons, valueOf, chosen) {
  const choose = (value) => {
    for (const button of buttons) button.setAttribute("aria-pressed", valueOf(button) === value);
    chosen(value);
  };
  const values = buttons.map(valueOf);
  const view = {
    value: values[0],
    written: () => (view.value === values[0] ? {} : { [name]: view.value }),
    read(query) {
      view.value = values.includes(query.get(name)) ? query.get(name) : values[0];
      choose(view.value);
    },
  };
  for (const button of buttons) button.addEventListener("click", () => {
    view.value = valueOf(button);
    choose(view.value);
    remember();
  });
  views.push(view);
  view.read(new URLSearchParams(location.hash.slice(1)));
}

function show(controller) {
  if (controller.pending) return;
  controller.pending = true;
  requestAnimationFrame(() => {
    controller.pending = false;
    render(controller);
  });
}

function render(controller) {
  const { texts, row, model, seen = model } = controller.found(controller);
  for (const spot of controller.panel.querySelectorAll("[data-say]")) setText(spot, texts[spot.dataset.say]);
  [controller.row, controller.model, controller.seen] = [row, model, seen];
  for (const follow of controller.followers) follow(row, model);
}

// Sets a text, or a value with its interval in a separate span.
function setText(spot, text) {
  if (!Array.isArray(text)) {
    if (spot.textContent !== text) spot.textContent = text;
    return;
  }
  const [value, interval] = text;
  const intervalSpan = Object.assign(document.createElement("span"), { className: "interval", textContent: interval });
  spot.replaceChildren(value, intervalSpan);
}

function wireAll() {
  for (const controller of panels) {
    controller.state = controller.read(controller, new URLSearchParams(location.hash.slice(1)));
    controller.form.hidden = false;
    controller.panel.classList.add("live");
    controller.form.addEventListener("submit", (event) => event.preventDefault());
    const models = controller.form.elements.model;
    const radios = models.length ? [...models] : [models];
    for (const radio of radios) radio.addEventListener("change", () => change(controller, { model: Number(radio.value) }));
    moveIntoTable(controller, radios);
    controller.wire(controller);
    render(controller);
  }
  addEventListener("popstate", readAddress);
  addEventListener("hashchange", () => location.hash.includes("=") && readAddress());
}

// Puts the radio buttons of the models into the table of models, whose rows then select them.
function moveIntoTable({ form, content }, radios) {
  const table = document.querySelector("table[data-selects]:not(.selecting)");
  const rows = table ? [...table.tBodies[0].rows] : [];
  const places = rows.map(({ cells }) => content.models.findIndex(({ name }) => name === cells[0].textContent.trim()));
  if (!rows.length || radios.some((_, k) => !places.includes(k))) return;
  form.id ||= `form-${panels.length}`;
  table.classList.add("selecting");
  rows.forEach((row, k) => {
    const radio = radios[places[k]];
    if (!radio) return;
    radio.setAttribute("form", form.id);
    row.cells[0].replaceChildren(radio.closest("label"));
    row.addEventListener("click", ({ target }) => target.closest("label, button") || radio.click());
  });
  form.querySelector(".models").remove();
}

// Connects a number field; invalid input is ignored.
function wireNumber(controller, input, changed) {
  input.addEventListener("input", () => input.validity.valid && change(controller, changed(input), { still: false }));
  input.addEventListener("change", () => (remember(), show(controller)));
}

function fill(input, value) {
  if (document.activeElement !== input) input.value = value;
}

// Connects a slider to the state.
function wireSlider(controller, slider, at) {
  slider.addEventListener("input", () => change(controller, at(Number(slider.value)), { still: false }));
  slider.addEventListener("change", () => change(controller, at(Number(slider.value))));
}

// Index of the first minimum, up to rounding.
function firstLeast(prices) {
  const least = Math.min(...prices) + 1e-12 * Math.max(...prices.map(Math.abs));
  return prices.findIndex((price) => price <= least);
}

const numberIn = (query, name) => (query.get(name) ? Number(query.get(name)) : NaN);

function modelIn(controller, query, name, otherwise) {
  const found = controller.content.models.findIndex((model) => model.name === query.get(name));
  return found >= 0 ? found : otherwise;
}

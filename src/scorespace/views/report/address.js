// What can be moved on the page. Each mover has a panel and a state; all that the panel shows is looked up for the
// state in what Python computed. The address of the page holds the states, so that a link shows the same view.

const ARRAYS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, i4: Int32Array, u1: Uint8Array };
const ABSENT = 1 - 2 ** 31; // stands for what is undefined
const PAUSE = 250; // milliseconds
const movers = [];

// A mover: `read` makes a state from the address and `written` the reverse; `found` says all that is shown at the
// state, by name, the row of numbers that marks of charts are drawn from, the model that is looked at, and `seen` where that is not all. `along` is
// where a pointer can drag it, `hover` what it knows of a point, and `sweep` what a model gives along its places.
function mover(id, parts) {
  const panel = document.getElementById(id);
  if (!panel) return null;
  const one = { panel, form: panel.querySelector("form"), content: readContent(panel), followers: new Set(), asked: false, row: null, model: null };
  movers.push(Object.assign(one, parts));
  return one;
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

// Value and limits from whole numbers of their last decimal; infinite ones are not packed so.
function measured([value, low, high, places]) {
  const decimal = (side) => side instanceof Int32Array ? Float64Array.from(side, (whole, k) => (whole === ABSENT ? NaN : whole / 10 ** places[k])) : side;
  return [decimal(value), decimal(low), decimal(high), places];
}

function unpackAll(held) {
  for (const name in held) {
    const value = held[name];
    if (typeof value === "string" && !["name", "words"].includes(name)) held[name] = unpacked(value);
    else if (value && typeof value === "object" && !["words", "labels"].includes(name)) unpackAll(value);
  }
}

function unpacked(text) {
  const [kind, code] = text.split(" ");
  if (!(kind in ARRAYS)) return text;
  return new ARRAYS[kind](Uint8Array.from(atob(code ?? ""), (sign) => sign.charCodeAt(0)).buffer);
}

// The mover that a chart follows: that of its own panel, or else the first.
const moverOf = (figure) => movers.find(({ panel }) => panel.contains(figure)) ?? movers[0];

// A change of the state; the address follows once what is moved stands still: browsers refuse too many addresses.
let pending = 0;
function change(one, next, { still = true } = {}) {
  one.state = { ...one.state, ...next };
  clearTimeout(pending);
  if (still) remember();
  else pending = setTimeout(remember, PAUSE);
  show(one);
}

const written = () => `#${new URLSearchParams(Object.assign({}, ...movers.map((one) => one.written(one))))}`;

function remember() {
  clearTimeout(pending);
  try {
    if (written() !== location.hash) history.pushState(null, "", written());
  } catch {} // some frames allow no addresses
}

function readAddress() {
  for (const one of movers) {
    one.state = one.read(one, new URLSearchParams(location.hash.slice(1)));
    show(one);
  }
}

function show(one) {
  if (one.asked) return;
  one.asked = true;
  requestAnimationFrame(() => {
    one.asked = false;
    render(one);
  });
}

function render(one) {
  const { said, row, model, seen = model } = one.found(one);
  for (const spot of one.panel.querySelectorAll("[data-say]")) say(spot, said[spot.dataset.say]);
  [one.row, one.model, one.seen] = [row, model, seen];
  for (const follow of one.followers) follow(row, model);
}

// A text, or a value with its interval set apart.
function say(spot, text) {
  if (!Array.isArray(text)) {
    if (spot.textContent !== text) spot.textContent = text;
    return;
  }
  const [value, interval] = text;
  const beside = Object.assign(document.createElement("span"), { className: "interval", textContent: interval });
  spot.replaceChildren(value, beside);
}

function wireAll() {
  for (const one of movers) {
    one.state = one.read(one, new URLSearchParams(location.hash.slice(1)));
    one.form.hidden = false;
    one.panel.classList.add("live");
    one.form.addEventListener("submit", (event) => event.preventDefault());
    const models = one.form.elements.model;
    for (const radio of models.length ? models : [models]) radio.addEventListener("change", () => change(one, { model: Number(radio.value) }));
    one.wire(one);
    render(one);
  }
  addEventListener("popstate", readAddress);
  addEventListener("hashchange", () => location.hash.includes("=") && readAddress());
}

// A field that holds a number: what cannot be one changes nothing.
function wireNumber(one, input, changed) {
  input.addEventListener("input", () => input.validity.valid && change(one, changed(input), { still: false }));
  input.addEventListener("change", () => (remember(), show(one)));
}

function fill(input, value) {
  if (document.activeElement !== input) input.value = value;
}

// A slider along places of a model, to the right as `place` falls or rises.
function wireSlider(one, slider, at) {
  slider.addEventListener("input", () => change(one, at(Number(slider.value)), { still: false }));
  slider.addEventListener("change", () => change(one, at(Number(slider.value))));
}

// The first place of least cost, up to rounding.
function firstLeast(prices) {
  const least = Math.min(...prices) + 1e-12 * Math.max(...prices.map(Math.abs));
  return prices.findIndex((price) => price <= least);
}

const numberIn = (given, name) => (given.get(name) ? Number(given.get(name)) : NaN);

function modelIn(one, given, name, otherwise) {
  const found = one.content.models.findIndex((model) => model.name === given.get(name));
  return found >= 0 ? found : otherwise;
}

// The operating point. One state; all that the page shows is looked up for it in what Python computed, and is
// linear in costs and prevalence. The address of the page holds the state.

const ARRAYS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array };
const panel = document.getElementById("operating");
const followers = new Set(); // what is called with the row of numbers of every new state
const operating = panel && readPanel();
let state = operating && read(location.hash);

function unpacked(text) {
  const [kind, code] = text.split(" ");
  return new ARRAYS[kind](Uint8Array.from(atob(code ?? ""), (sign) => sign.charCodeAt(0)).buffer);
}

function readPanel() {
  const content = JSON.parse(panel.querySelector("script").textContent);
  for (const model of content.models) {
    for (const name of ["threshold", "tp", "fp", "precision", "benefit"]) model[name] = unpacked(model[name]);
    model.shown = model.shown.map((sides) => sides.map(unpacked));
    for (const path of model.honest) if (path) for (const name in path) path[name] = unpacked(path[name]);
  }
  return content;
}

// Where the page opens; `at` is a threshold, "best", or "top" and how many.
function opening() {
  const { start, ratio, prevalence, stated } = operating;
  return { model: start, at: stated ? "best" : "shown", ratio, prevalence };
}

function read(hash) {
  const found = opening();
  const given = new URLSearchParams(hash.slice(1));
  const model = operating.models.findIndex(({ name }) => name === given.get("model"));
  if (model >= 0) found.model = model;
  const at = given.get("at");
  if (/^(best|shown|top[\d.]+%?)$/.test(at)) found.at = at;
  else if (at && !Number.isNaN(Number(at))) found.at = Number(at);
  const [ratio, share] = ["miss", "share"].map((name) => Number(given.get(name)));
  if (ratio > 0 && ratio <= 1e5) found.ratio = ratio;
  if (given.get("share") === "") found.prevalence = null;
  else if (share > 0 && share < 100) found.prevalence = share / 100;
  return found;
}

function written() {
  const share = state.prevalence === null ? "" : String(Number((100 * state.prevalence).toPrecision(12)));
  return `#${new URLSearchParams({ model: operating.models[state.model].name, at: state.at, miss: state.ratio, share })}`;
}

const shareOf = (model, { prevalence }) => prevalence ?? model.positives / (model.positives + model.negatives);
const rates = (model, place) => [model.tp[place] / model.positives, model.fp[place] / model.negatives];

function cost(model, tpr, fpr, { ratio, ...given }) {
  const { tp, tn, unit } = operating;
  const share = shareOf(model, given);
  return share * (tp + ratio * unit * (1 - tpr)) + (1 - share) * (tn + unit * fpr);
}

// The first threshold of least cost, up to rounding.
function best(model, given) {
  const prices = Array.from(model.threshold, (_, place) => cost(model, ...rates(model, place), given));
  const least = Math.min(...prices) + 1e-12 * Math.max(...prices.map(Math.abs));
  return prices.findIndex((price) => price <= least);
}

// The model and its place of least cost; one that treats all cases alike is none, then any threshold rule does.
function bestOfAll(given) {
  if (operating.classes) return given.model; // classes are no alternatives to each other
  const found = operating.models.map((model, index) => {
    const place = best(model, given);
    const flagged = model.tp[place] + model.fp[place];
    const useful = flagged > 0 && flagged < model.positives + model.negatives;
    return { index, price: useful ? cost(model, ...rates(model, place), given) : Infinity };
  });
  const cheapest = found.reduce((a, b) => (b.price < a.price ? b : a));
  const any = operating.models[0];
  const none = Math.min(cost(any, 0, 0, given), cost(any, 1, 1, given));
  return cheapest.price <= none ? cheapest.index : given.model;
}

// The lowest threshold that flags no more than so many cases.
function top(model, wanted) {
  const total = model.positives + model.negatives;
  const most = wanted.endsWith("%") ? (parseFloat(wanted) / 100) * total : Number(wanted);
  const place = model.threshold.findIndex((_, k) => model.tp[k] + model.fp[k] > most * (1 + 1e-12));
  return place < 0 ? model.threshold.length - 1 : Math.max(0, place - 1);
}

function placeOf(model, at) {
  if (model.crisp) return 0;
  if (at === "best") return best(model, state);
  if (String(at).startsWith("top")) return top(model, at.slice(3));
  const wanted = at === "shown" ? model.at : at;
  const after = model.threshold.findIndex((threshold) => threshold < wanted);
  return (after < 0 ? model.threshold.length : after) - 1;
}

function honest(model) {
  const path = model.honest[state.prevalence === null ? 0 : 1];
  if (!path) return NaN;
  const share = shareOf(model, state);
  const worth = state.prevalence === null ? state.ratio : (state.ratio * share * model.negatives) / ((1 - share) * model.positives);
  const beyond = path.worth.findIndex((edge) => edge * (1 + 1e-10) >= worth);
  const place = beyond < 0 ? path.worth.length : beyond;
  return cost(model, path.tp[place] / model.positives, path.fp[place] / model.negatives, state);
}

// All that is said at the state, by name; measures in two parts, the value and its interval.
function said(model, place, threshold) {
  const [tpr, fpr] = rates(model, place);
  const share = shareOf(model, state);
  const counts = { tp: model.tp[place], fn: model.positives - model.tp[place], fp: model.fp[place], tn: model.negatives - model.fp[place] };
  const shares = { tp: tpr, fn: counts.fn / model.positives, fp: fpr, tn: counts.tn / model.negatives };
  const changed = state.prevalence !== operating.prevalence;
  const found = {
    model: model.name,
    positive: model.labels[0],
    negative: model.labels[1],
    threshold: model.crisp ? "–" : threshold === Infinity ? "above all" : general(threshold),
    flagged: perThousand(1000 * (share * tpr + (1 - share) * fpr)),
    cost: digits(cost(model, tpr, fpr, state)),
    honest: digits(honest(model)),
    costs: operating.stated || state.ratio !== operating.ratio ? "" : model.words.costs,
    use: state.prevalence === null ? "" : model.words.use.replace("{}", general(100 * share, 3)),
    caution: changed ? model.words.caution : "",
  };
  for (const side in counts) {
    found[side] = grouped(counts[side]);
    found[`${side} share`] = percent(shares[side]);
    found[`${side} thousand`] = perThousand(1000 * ("tp fn".includes(side) ? share : 1 - share) * shares[side]);
  }
  model.shown.forEach((sides, k) => (found[`measure ${k}`] = estimate(...sides.map((side) => side[place]))));
  return { found, shares };
}

// The row that the marks of all charts are drawn from.
function here(model, place, threshold) {
  const [tpr, fpr] = rates(model, place);
  const share = shareOf(model, state);
  const slope = (1 - share) / (state.ratio * share);
  const condition = 1 / (1 + slope);
  const finite = (value) => (Number.isFinite(value) ? value : null);
  return {
    model: model.name,
    threshold: model.crisp ? null : finite(threshold),
    tpr,
    fpr,
    flagged: (model.tp[place] + model.fp[place]) / (model.positives + model.negatives),
    precision: finite(model.precision[place]),
    benefit: finite(model.benefit[place]),
    condition,
    loss: condition * (1 - tpr) + (1 - condition) * fpr,
    left: 0,
    right: 1,
    at_left: tpr - slope * fpr,
    at_right: tpr + slope * (1 - fpr),
  };
}

let asked = false;
function show() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    render();
  });
}

function render() {
  const model = operating.models[state.model];
  const place = placeOf(model, state.at);
  const threshold = typeof state.at === "number" ? state.at : state.at === "shown" ? model.at : model.threshold[place];
  const { found, shares } = said(model, place, threshold);
  for (const spot of document.querySelectorAll("[data-say]")) say(spot, found[spot.dataset.say]);
  for (const bar of panel.querySelectorAll("[data-bar]")) bar.style.setProperty("--share", shares[bar.dataset.bar]);
  const form = panel.querySelector("form");
  form.elements.model.value = state.model;
  for (const [id, value] of [["ratio", state.ratio], ["share", state.prevalence === null ? "" : general(100 * state.prevalence, 6)]]) {
    const input = form.elements[id];
    if (document.activeElement !== input) input.value = value;
  }
  const slider = form.elements.threshold;
  slider.max = model.threshold.length - 1;
  slider.value = slider.max - place; // to the right the threshold rises
  slider.disabled = model.crisp;
  slider.setAttribute("aria-valuetext", `${found.threshold}, flags ${found.flagged} of 1 000`);
  for (const button of form.querySelectorAll("[data-top]")) button.setAttribute("aria-pressed", state.at === `top${button.dataset.top}`);
  form.elements.best.setAttribute("aria-pressed", state.at === "best");
  const row = here(model, place, threshold);
  for (const follow of followers) follow(row, model);
}

function say(spot, text) {
  if (!Array.isArray(text)) {
    if (spot.textContent !== text) spot.textContent = text;
    return;
  }
  const [value, interval] = text;
  const beside = Object.assign(document.createElement("span"), { className: "interval", textContent: interval });
  spot.replaceChildren(value, beside);
}

// A change of the state; the address follows once what is moved stands still: browsers refuse too many addresses.
const PAUSE = 250; // milliseconds
let pending = 0;
function change(next, { still = true } = {}) {
  state = { ...state, ...next };
  clearTimeout(pending);
  if (still) remember();
  else pending = setTimeout(remember, PAUSE);
  show();
}

function remember() {
  clearTimeout(pending);
  try {
    if (written() !== location.hash) history.pushState(null, "", written());
  } catch {} // some frames allow no addresses
}

function wirePanel() {
  const form = panel.querySelector("form");
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const radio of form.elements.model.length ? form.elements.model : [form.elements.model])
    radio.addEventListener("change", () => change({ model: Number(radio.value) }));
  const slider = form.elements.threshold;
  const at = () => operating.models[state.model].threshold[slider.max - slider.value];
  slider.addEventListener("input", () => change({ at: at() }, { still: false }));
  slider.addEventListener("change", () => change({ at: at() }));
  form.elements.ratio.addEventListener("input", ({ target }) => target.validity.valid && change({ ratio: target.valueAsNumber }, { still: false }));
  form.elements.share.addEventListener("input", ({ target }) => {
    if (target.validity.valid) change({ prevalence: target.value === "" ? null : target.valueAsNumber / 100 }, { still: false });
  });
  for (const id of ["ratio", "share"]) form.elements[id].addEventListener("change", () => (remember(), show()));
  form.elements.best.addEventListener("click", () => change({ model: bestOfAll(state), at: "best" }));
  for (const button of form.querySelectorAll("[data-top]"))
    button.addEventListener("click", () => change({ at: `top${button.dataset.top}` }));
  addEventListener("popstate", () => {
    state = read(location.hash);
    show();
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) state = read(location.hash);
    show();
  });
  render();
}

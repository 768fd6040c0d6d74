// Panel of binary classifiers. Values are looked up by threshold; costs and measures that depend on the prevalence are
// recomputed for the numbers that the reader enters.

const operating = registerPanel("operating", {
  // State from the URL, or the initial state. `at` is a threshold, "best" (minimum cost), "top…" (at most this number of cases
  // predicted positive) or "least…" (at least this number).
  read(controller, query) {
    const { start, ratio, prevalence, stated } = controller.content;
    const found = { model: modelIn(controller, query, "model", start), at: stated ? "best" : "shown", ratio, prevalence };
    const at = query.get("at");
    if (/^(best|shown|(top|least)[\d.]+%?)$/.test(at)) found.at = at;
    else if (at && !Number.isNaN(Number(at))) found.at = Number(at);
    const [miss, share] = ["miss", "share"].map((name) => numberIn(query, name));
    if (miss > 0 && miss <= 1e5) found.ratio = miss;
    if (query.get("share") === "") found.prevalence = null;
    else if (share > 0 && share < 100) found.prevalence = share / 100;
    return found;
  },

  written({ content, state }) {
    const share = state.prevalence === null ? "" : String(Number((100 * state.prevalence).toPrecision(12)));
    return { model: content.models[state.model].name, at: state.at, miss: state.ratio, share };
  },

  found(controller) {
    const { content, state, form, panel } = controller;
    const model = content.models[state.model];
    const place = placeOf(model, state.at);
    const threshold = typeof state.at === "number" ? state.at : state.at === "shown" ? model.at : model.threshold[place];
    const { texts, shares } = textsAt(model, place, threshold);
    for (const bar of panel.querySelectorAll("[data-bar]")) bar.style.setProperty("--share", shares[bar.dataset.bar]);
    form.elements.model.value = state.model;
    fill(form.elements.ratio, state.ratio);
    fill(form.elements.share, state.prevalence === null ? "" : general(100 * state.prevalence, 6));
    const { threshold: slider, at } = form.elements;
    const [low, high] = scoreAxis(model);
    [slider.min, slider.max] = [low, high];
    slider.value = Math.min(high, Math.max(low, threshold ?? low));
    slider.disabled = at.disabled = model.crisp;
    fill(at, Number.isFinite(threshold) && !model.crisp ? thresholdText(model, place, threshold) : "");
    at.placeholder = model.crisp ? "–" : "none";
    form.elements.share.placeholder = general((100 * model.positives) / (model.positives + model.negatives), 3);
    for (const [id, end] of [["lowest", low], ["highest", high]]) document.getElementById(id).textContent = general(inUnits(model, end), 3);
    slider.setAttribute("aria-valuetext", `${texts.threshold}, ${texts.flagged} of 1 000 predicted positive`);
    const wanted = topOf(state.at);
    texts.tie = tiesOf(model)[wanted] ?? "";
    form.elements.tied.hidden = !texts.tie;
    form.elements.tied.setAttribute("aria-pressed", String(state.at).startsWith("least"));
    for (const button of form.querySelectorAll("[data-top]")) button.setAttribute("aria-pressed", wanted === button.dataset.top);
    form.elements.best.setAttribute("aria-pressed", state.at === "best");
    return { texts, row: markerRow(model, place, threshold), model, seen: `${state.model} ${state.prevalence} ${state.ratio}` };
  },

  wire(controller) {
    const { form } = controller;
    const slider = form.elements.threshold;
    const selected = () => controller.content.models[controller.state.model];
    wireSlider(controller, slider, (value) => ({ at: nearestThreshold(selected(), value) }));
    slider.addEventListener("keydown", (event) => {
      const model = selected();
      const last = model.threshold.length - 1;
      const place = placeOf(model, controller.state.at);
      const next = { ArrowLeft: place + 1, ArrowDown: place + 1, ArrowRight: place - 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: last, End: 0 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      change(controller, { at: model.threshold[Math.min(last, Math.max(0, next))] });
    });
    wireNumber(controller, form.elements.at, ({ value, valueAsNumber }) => ({ at: value === "" ? Infinity : inScores(selected(), valueAsNumber) }));
    wireNumber(controller, form.elements.ratio, ({ valueAsNumber }) => ({ ratio: valueAsNumber }));
    wireNumber(controller, form.elements.share, ({ value, valueAsNumber }) => ({ prevalence: value === "" ? null : valueAsNumber / 100 }));
    form.elements.best.addEventListener("click", () => change(controller, { model: bestOfAll(controller.state), at: "best" }));
    for (const button of form.querySelectorAll("[data-top]"))
      button.addEventListener("click", () => change(controller, { at: `top${button.dataset.top}` }));
    form.elements.tied.addEventListener("click", () => change(controller, { at: `${controller.state.at.startsWith("top") ? "least" : "top"}${topOf(controller.state.at)}` }));
  },

  along: {
    rows: (model) => Array.from(model.threshold, (threshold, place) => markerRow(model, place, threshold)),
    state: (model, place) => ({ at: model.threshold[place] }),
  },

  // Tooltip: outcomes and measures at the threshold of a point.
  hover({ content, model }, value) {
    const hovered = content.models.find(({ name }) => name === value.Model) ?? ("Measure" in value ? model : null);
    const at = value.Threshold === "∞" ? Infinity : Number(value.Threshold);
    if (!hovered || hovered.crisp || Number.isNaN(at)) return [];
    const place = nearestPlace(hovered, at);
    const { texts } = textsAt(hovered, place, hovered.threshold[place]);
    return [
      ...OUTCOMES.map(([name, side]) => [name, `${texts[side]} (${texts[`${side} share`]})`]),
      ...content.measures.map(({ title }, k) => [title, texts[`measure ${k}`].join("")]),
    ];
  },

  swept: {
    // Measures of the model against the threshold, thinned so that points can be hovered.
    sweep({ content, model }) {
      const step = Math.ceil(model.threshold.length / 300);
      return content.measures.flatMap(({ title, drawn }, k) =>
        drawn ? Array.from(model.threshold).flatMap((x, place) => {
          const y = valueAt(model, k, place);
          if (place % step || !Number.isFinite(x) || !Number.isFinite(y)) return [];
          return [{ name: title, place, x, y, threshold: thresholdText(model, place, x) }];
        }) : []);
    },

    // Cost of the model against the threshold, and of the rules that predict the same class for all cases.
    prices({ model, state }) {
      const price = (place) => cost(model, ...rates(model, place), state);
      const last = model.threshold.length - 1;
      const found = Array.from(model.threshold, (x, place) => ({ kind: "model", place, x, y: price(place), label: null }));
      const { headings } = model.words;
      const ends = [model.threshold[last], model.threshold[Math.min(1, last)]];
      const rule = (kind, place, heading) => ends.map((x, k) => ({ kind, place: k, x, y: price(place), label: k ? `every case ${heading}` : null }));
      return [...found, ...rule("all", last, headings["heading +"]), ...rule("none", 0, headings["heading -"])].filter(({ x }) => Number.isFinite(x));
    },
  },
});

// The ends of the score axis: the unit interval of probabilities, or the lowest and the highest score.
function scoreAxis({ threshold, unit, crisp }) {
  if (crisp || unit) return [0, 1];
  return [threshold.at(-1), threshold[Math.min(1, threshold.length - 1)]];
}

const inUnits = ({ scale }, at) => (scale ? scale[0] + at * (scale[1] - scale[0]) : at);
const inScores = ({ scale }, at) => (scale ? (at - scale[0]) / (scale[1] - scale[0]) : at);

function nearestThreshold({ threshold }, at) {
  return threshold.reduce((best, one) => (Number.isFinite(one) && Math.abs(one - at) < Math.abs(best - at) ? one : best), threshold.at(-1));
}

// A threshold with enough digits to classify every case alike, in the units of the rating scale; a typed one as it is.
function thresholdText(model, place, at) {
  const [low, high] = model.scale ?? [0, 1];
  const value = at === model.threshold[place] ? model.rounded[place] : model.scale ? Number((low + at * (high - low)).toPrecision(15)) : at;
  const whole = Math.abs(value) >= 1 && Math.abs(value) < 1e15 ? Math.floor(Math.log10(Math.abs(value))) + 1 : 0;
  let digits = Math.max(4, whole);
  while (digits < 17 && Number(general(value, digits)) !== value) digits += 1;
  return general(value, digits);
}

const OUTCOMES = [["True positives", "tp"], ["False positives", "fp"], ["False negatives", "fn"], ["True negatives", "tn"]];

function nearestPlace({ rounded }, at) {
  if (at === Infinity) return 0;
  let found = rounded.length - 1;
  rounded.forEach((threshold, k) => {
    if (Math.abs(threshold - at) < Math.abs(rounded[found] - at)) found = k;
  });
  return found;
}

const shareOf = (model, { prevalence }) => prevalence ?? model.positives / (model.positives + model.negatives);
const rates = (model, place) => [model.tp[place] / model.positives, model.fp[place] / model.negatives];

function cost(model, tpr, fpr, { ratio, prevalence }) {
  const { tp, tn, unit } = operating.content;
  const share = shareOf(model, { prevalence });
  return share * (tp + ratio * unit * (1 - tpr)) + (1 - share) * (tn + unit * fpr);
}

// Index of the first threshold of minimum cost, up to rounding.
function best(model, state) {
  return firstLeast(Array.from(model.threshold, (_, place) => cost(model, ...rates(model, place), state)));
}

// Index of the model of minimum cost; rules that predict the same class for all cases are not eligible.
function bestOfAll(state) {
  const { classes, models } = operating.content;
  if (classes) return state.model; // one-vs-rest classes are not alternatives
  const found = models.map((model, index) => {
    const place = best(model, state);
    const flagged = model.tp[place] + model.fp[place];
    const useful = flagged > 0 && flagged < model.positives + model.negatives;
    return { index, price: useful ? cost(model, ...rates(model, place), state) : Infinity };
  });
  const cheapest = found.reduce((a, b) => (b.price < a.price ? b : a));
  const none = Math.min(cost(models[0], 0, 0, state), cost(models[0], 1, 1, state));
  return cheapest.price <= none ? cheapest.index : state.model;
}

// Number of top-ranked cases in the state.
const topOf = (at) => /^(?:top|least)(.*)$/.exec(at)?.[1] ?? "";

// Notes on ties, which hold at the prevalence of the sample only.
const tiesOf = (model) => (operating.state.prevalence === null ? model.words.ties : {});

// Index of the lowest threshold with at most the wanted number of predicted positives.
function top(model, wanted) {
  const total = model.positives + model.negatives;
  const most = wanted.endsWith("%") ? (parseFloat(wanted) / 100) * total : Number(wanted);
  const place = model.threshold.findIndex((_, k) => {
    const { tp, fp } = outcomesAt(model, k, operating.state.prevalence);
    return tp + fp > most * (1 + 1e-12);
  });
  return place < 0 ? model.threshold.length - 1 : Math.max(0, place - 1);
}

function placeOf(model, at) {
  if (model.crisp) return 0;
  if (at === "best") return best(model, operating.state);
  if (topOf(at)) return top(model, topOf(at)) + (at.startsWith("least") && tiesOf(model)[topOf(at)] ? 1 : 0);
  const wanted = at === "shown" ? model.at : at;
  const after = model.threshold.findIndex((threshold) => threshold < wanted);
  return (after < 0 ? model.threshold.length : after) - 1;
}

function crossFittedCost(model) {
  const { state } = operating;
  const path = model.cross_fitted[state.prevalence === null ? 0 : 1];
  if (!path) return NaN;
  const share = shareOf(model, state);
  const worth = state.prevalence === null ? state.ratio : (state.ratio * share * model.negatives) / ((1 - share) * model.positives);
  const beyond = path.worth.findIndex((edge) => edge * (1 + 1e-10) >= worth);
  const place = beyond < 0 ? path.worth.length : beyond;
  return cost(model, path.tp[place] / model.positives, path.fp[place] / model.negatives, state);
}

// Texts of the panel by name; measures as a value and its interval.
function textsAt(model, place, threshold) {
  const { state, content } = operating;
  const [tpr, fpr] = rates(model, place);
  const share = shareOf(model, state);
  const counts = { tp: model.tp[place], fn: model.positives - model.tp[place], fp: model.fp[place], tn: model.negatives - model.fp[place] };
  const shares = { tp: tpr, fn: counts.fn / model.positives, fp: fpr, tn: counts.tn / model.negatives };
  const changed = state.prevalence !== content.prevalence;
  const asStated = state.ratio === content.ratio && !changed;
  const texts = {
    model: model.name,
    positive: model.labels[0],
    negative: model.labels[1],
    threshold: model.crisp ? "–" : threshold === Infinity ? "above all scores" : thresholdText(model, place, threshold),
    flagged: perThousand(1000 * (share * tpr + (1 - share) * fpr)),
    cost: digits(cost(model, tpr, fpr, state)),
    "cost limits": asStated && model.cost ? estimate(...model.cost.map((side) => side[place]))[1] : "",
    cross_fitted: digits(crossFittedCost(model)),
    caution: changed ? model.words.caution : "",
    ...model.words.headings,
  };
  for (const side in counts) {
    texts[side] = grouped(counts[side]);
    texts[`${side} share`] = percent(shares[side]);
    texts[`${side} thousand`] = perThousand(1000 * ("tp fn".includes(side) ? share : 1 - share) * shares[side]);
  }
  model.shown.forEach((sides, k) => {
    // Intervals are available for the initial prevalence only.
    texts[`measure ${k}`] = changed && content.measures[k].moving ? [valueText(valueAt(model, k, place)), ""] : estimate(...sides.map((side) => side[place]));
  });
  return { texts, shares };
}

// Outcomes of the sample, or reweighted to a prevalence.
function outcomesAt(model, place, share) {
  const { positives, negatives } = model;
  const [p, n] = share === null ? [1, 1] : [(share * (positives + negatives)) / positives, ((1 - share) * (positives + negatives)) / negatives];
  const [tp, fp] = [model.tp[place], model.fp[place]];
  return { tp: tp * p, fn: (positives - tp) * p, fp: fp * n, tn: (negatives - fp) * n };
}

// Value of a measure at a threshold, for the current prevalence.
function valueAt(model, k, place) {
  const { state, content } = operating;
  const { name, moving, options } = content.measures[k];
  if (!moving || state.prevalence === content.prevalence) return model.shown[k][0][place];
  return FORMULAS[name]?.(outcomesAt(model, place, state.prevalence), options) ?? NaN;
}

const between = (value) => Math.min(1, Math.max(-1, value));

// Prevalence-dependent measures, as in Python; 0/0 is NaN.
const FORMULAS = {
  tp: ({ tp }) => tp,
  fp: ({ fp }) => fp,
  fn: ({ fn }) => fn,
  tn: ({ tn }) => tn,
  p: ({ tp, fn }) => tp + fn,
  n: ({ fp, tn }) => fp + tn,
  pp: ({ tp, fp }) => tp + fp,
  pn: ({ fn, tn }) => fn + tn,
  acc: ({ tp, fp, fn, tn }) => (tp + tn) / (tp + fn + (fp + tn)),
  err: ({ tp, fp, fn, tn }) => (fp + fn) / (tp + fn + (fp + tn)),
  ppv: ({ tp, fp }) => tp / (tp + fp),
  npv: ({ fn, tn }) => tn / (fn + tn),
  fdr: ({ tp, fp }) => fp / (tp + fp),
  fomr: ({ fn, tn }) => fn / (fn + tn),
  f1: ({ tp, fp, fn }) => (2 * tp) / (2 * tp + fp + fn),
  fbeta: ({ tp, fp, fn }, { beta = 1 }) => {
    const b = Math.min(beta, 1e100) ** 2;
    return ((1 + b) * tp) / ((1 + b) * tp + fp + b * fn);
  },
  fm: ({ tp, fp, fn }) => Math.sqrt((tp / (tp + fp)) * (tp / (tp + fn))),
  mcc: ({ tp, fp, fn, tn }) => {
    const [p, n, pp, pn, covariance] = [tp + fn, fp + tn, tp + fp, fn + tn, tp * tn - fp * fn];
    const spread = covariance < 0 ? Math.sqrt(p * pn) * Math.sqrt(n * pp) : Math.sqrt(p * pp) * Math.sqrt(n * pn);
    return between(covariance / spread);
  },
  kappa: ({ tp, fp, fn, tn }) => (2 * (tp * tn - fp * fn)) / ((tp + fn) * (fn + tn) + (fp + tn) * (tp + fp)),
  markedness: ({ tp, fp, fn, tn }) => tp / (tp + fp) + tn / (fn + tn) - 1,
  jaccard: ({ tp, fp, fn }) => tp / (tp + fp + fn),
  prevalence: ({ tp, fp, fn, tn }) => (tp + fn) / (tp + fn + (fp + tn)),
  nir: ({ tp, fp, fn, tn }) => Math.max(tp + fn, fp + tn) / (tp + fn + (fp + tn)),
  pp_rate: ({ tp, fp, fn, tn }) => (tp + fp) / (tp + fn + (fp + tn)),
  lift: ({ tp, fp, fn, tn }) => tp / (tp + fp) / ((tp + fn) / (tp + fn + (fp + tn))),
};

// Coordinates of the operating point in all charts.
function markerRow(model, place, threshold) {
  const { state } = operating;
  const [tpr, fpr] = rates(model, place);
  const share = shareOf(model, state);
  const drawn = outcomesAt(model, place, operating.content.prevalence); // curves are drawn for the initial prevalence
  const slope = (1 - share) / (state.ratio * share);
  const condition = 1 / (1 + slope);
  const finite = (value) => (Number.isFinite(value) ? value : null);
  const benefit = model.unit && !model.crisp && threshold < 1 ? (drawn.tp - (drawn.fp * threshold) / (1 - threshold)) / (model.positives + model.negatives) : NaN;
  return {
    model: model.name,
    threshold: model.crisp ? null : finite(threshold),
    tpr,
    fpr,
    flagged: (drawn.tp + drawn.fp) / (model.positives + model.negatives),
    precision: finite(drawn.tp / (drawn.tp + drawn.fp)),
    benefit: finite(benefit),
    condition,
    loss: condition * (1 - tpr) + (1 - condition) * fpr,
    left: 0,
    right: 1,
    at_left: tpr - slope * fpr,
    at_right: tpr + slope * (1 - fpr),
    price: cost(model, tpr, fpr, state),
  };
}

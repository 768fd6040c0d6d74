// Panel of regression models. Values are looked up by shift; the loss is linear in the costs.

const shifting = registerPanel("shifting", {
  // `at` is a shift, "own" (no shift) or "best" (minimum loss).
  read(controller, query) {
    const { start, ratio, stated } = controller.content;
    const found = { model: modelIn(controller, query, "model", start), at: stated ? "best" : "own", ratio };
    const at = query.get("at");
    if (at === "best" || at === "own") found.at = at;
    else if (at && !Number.isNaN(Number(at))) found.at = Number(at);
    const low = numberIn(query, "low");
    if (low > 0 && low <= 1e5) found.ratio = low;
    return found;
  },

  written: ({ content, state }) => ({ model: content.models[state.model].name, at: state.at, low: state.ratio }),

  found(controller) {
    const { content, state, form, panel } = controller;
    const model = content.models[state.model];
    const place = shiftPlace(model, state);
    const [over, under] = [model.over[place], model.under[place]];
    const texts = {
      model: model.name,
      shift: signed(model.shift[place]),
      loss: short(shiftLoss(model, place, state)),
      "as it is": short(shiftLoss(model, model.own, state)),
      alpha: general(state.ratio / (1 + state.ratio), 3),
      cross_fitted: state.ratio === content.ratio ? model.words : "",
      over: short(over),
      under: short(under),
      high: percent(model.high[place]),
      low: percent(model.low[place]),
      mean: signed(over - under),
      size: short(over + under),
    };
    for (const bar of panel.querySelectorAll("[data-bar]")) bar.style.setProperty("--share", model[bar.dataset.bar][place]);
    form.elements.model.value = state.model;
    fill(form.elements.times, state.ratio);
    form.elements.alpha.value = state.ratio / (1 + state.ratio);
    const slider = form.elements.shift;
    slider.max = model.shift.length - 1;
    slider.value = place;
    slider.setAttribute("aria-valuetext", `${texts.shift}, loss ${texts.loss} per case`);
    form.elements.fittest.setAttribute("aria-pressed", state.at === "best");
    form.elements.unshifted.setAttribute("aria-pressed", state.at === "own");
    const slope = 1 / state.ratio;
    const row = {
      model: model.name,
      over,
      under: -under,
      error: -model.shift[place],
      left: 0,
      right: content.reach,
      at_left: -under - slope * over,
      at_right: -under + slope * (content.reach - over),
    };
    return { texts, row, model };
  },

  wire(controller) {
    const { form, content } = controller;
    wireSlider(controller, form.elements.shift, (value) => ({ at: content.models[controller.state.model].shift[value] }));
    wireSlider(controller, form.elements.alpha, (value) => ({ ratio: Number((value / (1 - value)).toPrecision(6)) }));
    wireNumber(controller, form.elements.times, ({ valueAsNumber }) => ({ ratio: valueAsNumber }));
    form.elements.fittest.addEventListener("click", () => change(controller, { model: bestModel(controller), at: "best" }));
    form.elements.unshifted.addEventListener("click", () => change(controller, { at: "own" }));
  },

  along: {
    rows: (model) => Array.from(model.shift, (_, place) => ({ over: model.over[place], under: -model.under[place] })),
    state: (model, place) => ({ at: model.shift[place] }),
  },
});

// Three significant digits; integers from 1 000 on.
function short(value) {
  const text = general(value, 3);
  const size = Math.abs(Number(text));
  return size >= 1000 && size < 1e15 ? grouped(Number(fixed(value, 0))) : text.replaceAll("-", "−");
}

const signed = (value) => (value > 0 ? "+" : "") + short(value);

function shiftLoss(model, place, { ratio }) {
  return shifting.content.unit * (ratio * model.under[place] + model.over[place]);
}

const bestShift = (model, state) => firstLeast(Array.from(model.shift, (_, place) => shiftLoss(model, place, state)));

function bestModel({ content, state }) {
  return firstLeast(content.models.map((model) => shiftLoss(model, bestShift(model, state), state)));
}

// Index of the shift in the state, or of the next higher kept one.
function shiftPlace(model, state) {
  if (state.at === "own") return model.own;
  if (state.at === "best") return bestShift(model, state);
  const found = model.shift.findIndex((shift) => shift >= state.at);
  return found < 0 ? model.shift.length - 1 : found;
}

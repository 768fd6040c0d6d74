// Predicted numbers. What is shown is looked up for the shift, and linear in what too low and too high cost.

const shifting = mover("shifting", {
  // `at` is a shift, "own" for none, or "best".
  read(one, given) {
    const { start, ratio, stated } = one.content;
    const found = { model: modelIn(one, given, "model", start), at: stated ? "best" : "own", ratio };
    const at = given.get("at");
    if (at === "best" || at === "own") found.at = at;
    else if (at && !Number.isNaN(Number(at))) found.at = Number(at);
    const low = numberIn(given, "low");
    if (low > 0 && low <= 1e5) found.ratio = low;
    return found;
  },

  written: ({ content, state }) => ({ model: content.models[state.model].name, at: state.at, low: state.ratio }),

  found(one) {
    const { content, state, form, panel } = one;
    const model = content.models[state.model];
    const place = shiftPlace(model, state);
    const [over, under] = [model.over[place], model.under[place]];
    const said = {
      model: model.name,
      shift: signed(model.shift[place]),
      loss: short(shiftLoss(model, place, state)),
      "as it is": short(shiftLoss(model, model.own, state)),
      alpha: general(state.ratio / (1 + state.ratio), 3),
      honest: state.ratio === content.ratio ? model.words : "",
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
    slider.setAttribute("aria-valuetext", `${said.shift}, costs ${said.loss} per case`);
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
    return { said, row, model };
  },

  wire(one) {
    const { form, content } = one;
    wireSlider(one, form.elements.shift, (value) => ({ at: content.models[one.state.model].shift[value] }));
    wireSlider(one, form.elements.alpha, (value) => ({ ratio: Number((value / (1 - value)).toPrecision(6)) }));
    wireNumber(one, form.elements.times, ({ valueAsNumber }) => ({ ratio: valueAsNumber }));
    form.elements.fittest.addEventListener("click", () => change(one, { model: fittest(one), at: "best" }));
    form.elements.unshifted.addEventListener("click", () => change(one, { at: "own" }));
  },

  along: {
    spots: (model) => Array.from(model.shift, (_, place) => [model.over[place], -model.under[place]]),
    state: (model, place) => ({ at: model.shift[place] }),
  },
});

// Three significant digits; from 1 000 on, whole numbers are told whole.
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

function fittest({ content, state }) {
  return firstLeast(content.models.map((model) => shiftLoss(model, bestShift(model, state), state)));
}

// The shift that is stated, or the next higher one that is kept.
function shiftPlace(model, state) {
  if (state.at === "own") return model.own;
  if (state.at === "best") return bestShift(model, state);
  const found = model.shift.findIndex((shift) => shift >= state.at);
  return found < 0 ? model.shift.length - 1 : found;
}

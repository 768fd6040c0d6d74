// Panel of multiclass models. Values are looked up by rejection threshold; the cost is linear in the entered costs.

const multiclass = registerPanel("multiclass", {
  // `lead`: cases whose highest score exceeds the second by less are rejected; "best": minimum cost.
  read(controller, query) {
    const { start, costs } = controller.content;
    const found = { model: modelIn(controller, query, "decides", start), lead: -Infinity, hand: null, costs, pair: controller.content.pair };
    const [lead, hand] = ["lead", "hand"].map((name) => numberIn(query, name));
    if (query.get("lead") === "best") found.lead = "best";
    else if (!Number.isNaN(lead)) found.lead = lead;
    if (hand >= 0 && hand <= 1e6) found.hand = hand;
    const stated = (query.get("costs") ?? "").split(" ").map(Number);
    if (query.get("costs") && stated.length === costs.length && stated.every((cost) => Math.abs(cost) <= 1e6)) found.costs = stated;
    const pair = /^(\d+)-(\d+)$/.exec(query.get("pair") ?? "")?.slice(1).map(Number);
    if (pair?.every((place) => place < controller.content.size) && found.pair) found.pair = pair;
    return found;
  },

  written({ content, state }) {
    const found = { decides: content.models[state.model].name };
    if (state.lead !== -Infinity) found.lead = state.lead;
    if (state.hand !== null) found.hand = state.hand;
    if (state.costs !== content.costs) found.costs = state.costs.join(" ");
    if (state.pair && state.pair.join("-") !== content.pair.join("-")) found.pair = state.pair.join("-");
    return found;
  },

  found(controller) {
    const { content, state, form, panel } = controller;
    const model = content.models[state.model];
    const place = leadPlace(model, state);
    const texts = {
      model: model.name,
      handed: percent(model.handed[place]),
      kept: grouped(model.kept[place]),
      handing: place ? ` and rejects ${percent(model.handed[place])}, whose highest score exceeds the second by less than ${general(model.lead[place], 3)}` : "",
      cost: digits(decidedCost(model, place, state)),
      instead: trivialRuleText(model, place, state),
    };
    model.shown.forEach((sides, k) => (texts[`measure ${k}`] = estimate(...sides.map((side) => side[place]))));
    if (state.pair) texts.pair = pairText(model, state.pair);
    panel.querySelector(".pair")?.classList.toggle("none", !model.pairs);
    for (const button of panel.querySelectorAll("[data-pair]")) button.setAttribute("aria-pressed", button.dataset.pair === state.pair.join("-"));
    const shares = fillCells(model, place, texts);
    for (const bar of panel.querySelectorAll("[data-bar]")) bar.style.setProperty("--share", shares[bar.dataset.bar]);
    for (const input of panel.querySelectorAll("[data-cost]")) fill(input, state.costs[input.dataset.cost]);
    form.elements.model.value = state.model;
    if (form.elements.hand) fill(form.elements.hand, state.hand ?? "");
    const slider = form.elements.handed;
    slider.max = model.lead.length - 1;
    slider.value = place;
    slider.disabled = model.crisp;
    slider.setAttribute("aria-valuetext", `${texts.handed} of the cases`);
    form.elements.cheapest.setAttribute("aria-pressed", state.lead === "best");
    return { texts, row: { model: model.name, handed: model.handed[place], right: model.right[place] }, model, seen: `${state.model} ${state.pair}` };
  },

  wire(controller) {
    const { form, panel } = controller;
    wireSlider(controller, form.elements.handed, (value) => ({ lead: value ? controller.content.models[controller.state.model].lead[value] : -Infinity }));
    if (form.elements.hand)
      wireNumber(controller, form.elements.hand, ({ value, valueAsNumber }) => ({ hand: value === "" ? null : valueAsNumber }));
    for (const input of panel.querySelectorAll("[data-cost]"))
      wireNumber(controller, input, ({ valueAsNumber }) => ({ costs: controller.state.costs.with(Number(input.dataset.cost), valueAsNumber) }));
    form.elements.cheapest.addEventListener("click", () => change(controller, { model: cheapest(controller), lead: "best" }));
    for (const button of panel.querySelectorAll("[data-pair]"))
      button.addEventListener("click", () => change(controller, { pair: button.dataset.pair.split("-").map(Number) }));
    const edit = (on) => {
      panel.classList.toggle("editing", on);
      form.elements.edit.ariaPressed = String(on);
    };
    form.elements.edit?.addEventListener("click", ({ target }) => edit(target.ariaPressed !== "true"));
    if (controller.state.costs !== controller.content.costs) edit(true);
    form.elements.reset?.addEventListener("click", () => change(controller, { costs: controller.content.costs }));
  },

  swept: {
    // ROC curves of the selected cell: by the score of the row's class, and by that of the column's class.
    sweep({ model, state }) {
      const [row, column] = state.pair;
      const cells = row === column ? [["row", row, column]] : [["row", row, column], ["column", column, row]];
      return model.pairs ? cells.flatMap(([name, i, k]) => curveOf(model.pairs, i, k).map((point, place) => ({ name, place, ...point }))) : [];
    },
  },

  along: {
    rows: (model) => Array.from(model.lead, (_, place) => ({ handed: model.handed[place], right: model.right[place] })),
    state: (model, place) => ({ lead: place ? model.lead[place] : -Infinity }),
  },
});

function curveOf({ x, y, start }, row, column) {
  const { size } = multiclass.content;
  const [first, last] = [0, 1].map((next) => start[row * size + column + next]);
  return Array.from(x.slice(first, last), (across, k) => ({ x: across / 65535, y: y[first + k] / 65535 }));
}

function pairText(model, [row, column]) {
  const { classes, size, words } = multiclass.content;
  if (!model.pairs) return filled(words.none, model.name);
  const [a, b] = [classes[row], classes[column]];
  const [area, reverseArea] = [[row, column], [column, row]].map(([i, k]) => decimals(model.pairs.areas[i * size + k]));
  return row === column ? filled(words.rest, a, area) : filled(words.two, a, b, area, a, reverseArea, b);
}

// Cost per accepted case, or per case of all if rejection has a cost.
function decidedCost(model, place, { costs, hand }) {
  const size = costs.length;
  let spent = 0;
  if (model.cells) for (let cell = 0; cell < size; cell += 1) spent += costs[cell] * model.cells[place * size + cell];
  else spent = model.spent[place];
  const [kept, total] = [model.kept[place], model.kept[0]];
  return hand === null ? spent / kept : (spent + hand * (total - kept)) / total;
}

// A sentence if rejecting every case, or always predicting one class, costs no more.
function trivialRuleText(model, place, state) {
  if (state.hand === null && place) return "";
  const { classes, size, words } = multiclass.content;
  const found = state.hand === null ? [] : [[words.reject, state.hand]];
  const classTotals = model.cells ? Array.from(classes, (_, i) => model.cells.slice(i * size, (i + 1) * size).reduce((a, b) => a + b, 0)) : [];
  classTotals.length && classes.forEach((name, k) => {
    const spent = classTotals.reduce((sum, cases, i) => sum + cases * state.costs[i * size + k], 0);
    found.push([filled(words.always, name), spent / model.kept[0]]);
  });
  if (!found.length) return "";
  const [what, least] = found[firstLeast(found.map(([, price]) => price))];
  const price = decidedCost(model, place, state);
  return least <= price + 1e-12 * Math.abs(price) ? filled(words.instead, what, digits(least)) : "";
}

// Index of minimum cost, at ties the highest lead, as in Python; without a cost of rejection, no case is rejected.
function bestLead(model, state) {
  if (state.hand === null) return 0;
  const prices = Array.from(model.lead, (_, place) => decidedCost(model, place, state));
  return prices.length - 1 - firstLeast(prices.toReversed());
}

function cheapest({ content, state }) {
  const prices = content.models.map((model) => decidedCost(model, bestLead(model, state), state));
  return firstLeast(prices);
}

function leadPlace(model, state) {
  if (model.crisp) return 0;
  if (state.lead === "best") return bestLead(model, state);
  const found = model.lead.findIndex((lead) => lead >= state.lead);
  return found < 0 ? model.lead.length - 1 : found;
}

// Count and row percentage of each cell.
function fillCells(model, place, texts) {
  const shares = {};
  if (!model.cells) return shares;
  const { size } = multiclass.content;
  const start = place * size * size;
  for (let i = 0; i < size; i += 1) {
    const line = model.cells.slice(start + i * size, start + (i + 1) * size);
    const total = line.reduce((a, b) => a + b, 0);
    line.forEach((count, k) => {
      shares[`share ${i} ${k}`] = total ? count / total : 0;
      texts[`cell ${i} ${k}`] = grouped(count);
      texts[`share ${i} ${k}`] = percent(shares[`share ${i} ${k}`]);
    });
  }
  return shares;
}

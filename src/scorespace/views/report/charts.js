// Draws every chart of the page: at once what is in view, next what comes near or is unfolded, the others when there is
// time. Models can be switched off, curves zoomed, pictures and data saved; marks follow the operating point.

const NARROWEST = 140;
const WIDEST_SQUARE = 460;
const [BESIDE, BESIDE_NAMED] = [90, 135]; // what axes, and lines named at their end, mostly take beside a plot
const SLACK = 30; // pixels that a chart may be narrower than its place
const OPTIONS = {
  actions: false,
  ast: true, // expressions are interpreted, never evaluated as code
  defaultStyle: false,
  renderer: "svg", // sharp in print, and coloured by the style sheet
  tooltip: { disableDefaultStyle: true },
};
const ZOOMED = ["x", "y"];
const SVG = "http://www.w3.org/2000/svg";

async function mount(figure) {
  const place = figure.querySelector(".chart");
  figure.dataset.drawn = "soon";
  try {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const names = namesOf(spec);
    const tooltip = { ...OPTIONS.tooltip, formatTooltip: (value, text) => hovered(value, text, moverOf(figure)) };
    const across = place.clientWidth; // asked before it is drawn: afterwards the page would be laid out for the answer
    const { view } = await window.vegaEmbed(place, sized(spec, across), { ...OPTIONS, tooltip, patch: (chart) => patched(chart, names) });
    const fit = fitter(view, place, spec);
    await fit(across);
    new ResizeObserver(([{ contentRect }]) => requestAnimationFrame(() => fit(contentRect.width))).observe(place);
    if (names) legend(figure, view, names);
    tools(figure, view, spec);
    follow(figure, view, spec);
    figure.dataset.drawn = "yes";
  } catch (error) {
    console.error(error);
    place.textContent = `This chart could not be drawn: ${error.message}`;
  }
}

// Top and others: the layers of a chart, or of its panels.
const layers = (spec) => [spec, ...[spec.layer, spec.concat, [spec.spec]].flatMap((parts) => (parts ?? []).filter(Boolean).flatMap(layers))];

// What the colours of a chart mean, where it has a legend of several names.
function namesOf(spec) {
  if (spec.concat) return null;
  const found = layers(spec).map(({ encoding }) => encoding?.color).find((color) => color?.legend && color.scale?.domain);
  if (!found || found.scale.domain.length < 2) return null;
  const dashes = layers(spec).map(({ encoding }) => encoding?.strokeDash?.scale?.range).find(Boolean) ?? [];
  const areas = spec.params?.find(({ name }) => name === "areas")?.value ?? {};
  return {
    field: found.field,
    square: found.legend.symbolType === "square",
    entries: found.scale.domain.map((name, k) => ({ name, area: areas[name] ?? "", colour: found.scale.range[k], dash: dashes[k] ?? [] })),
  };
}

// The compiled chart with what the page adds: models that are off, scales that zoom; the legend stands above it.
function patched(chart, names) {
  silence(chart); // the chart is described as a whole; single marks have nothing to add
  chart.signals = [...(chart.signals ?? []), { name: "off", value: [] }];
  if (names) {
    chart.legends = [];
    for (const table of chart.data ?? [])
      if (Array.isArray(table.values) && table.values.some((row) => names.field in row))
        table.transform = [...(table.transform ?? []), { type: "filter", expr: `indexof(off, datum['${names.field}']) < 0` }];
  }
  for (const scale of chart.scales ?? []) {
    if (!ZOOMED.includes(scale.name) || !["linear", "log", "symlog", undefined].includes(scale.type)) continue;
    chart.signals.push({ name: `zoom_${scale.name}`, value: null });
    scale.domainRaw = { signal: `zoom_${scale.name}` };
  }
  return chart;
}

function silence({ marks = [] }) {
  for (const mark of marks) {
    if (mark.type !== "group") mark.aria = false;
    const told = mark.encode?.update ?? {}; // else written for every point before anybody asks
    delete told.description;
    if (marks.some(({ from }) => from?.data === mark.name)) delete told.tooltip; // the cells around the points tell it
    silence(mark);
  }
}

const isSquare = ({ width, height }) => width === height;
const widthIn = (room, square) => Math.max(NARROWEST, Math.floor(square ? Math.min(room, WIDEST_SQUARE) : room));

// The chart in about the size that it will have: to draw it twice takes twice as long.
function sized(spec, across) {
  const panel = spec.spec ?? spec; // a chart of several panels sizes each of them
  if (!across || !panel.width) return spec;
  const named = layers(spec).some(({ mark }) => mark?.type === "text" && mark.align === "left");
  const width = widthIn(across - (named ? BESIDE_NAMED : BESIDE), isSquare(panel));
  const size = { width, height: isSquare(panel) ? width : panel.height };
  return spec.spec ? { ...spec, spec: { ...panel, ...size } } : { ...spec, ...size };
}

// A function that makes a chart as wide as its place, and keeps the square ones square.
function fitter(view, place, spec) {
  const panel = spec.spec ?? spec;
  if (!panel.width) return async () => {}; // charts side by side keep their sizes, and shrink as a picture does
  const [width, height] = ["width", "height"].map((side) => (spec.spec ? `child_${side}` : side));
  const square = isSquare(panel);
  // What axes and labels add beside the plot is known once it has been drawn in its own size.
  const beside = place.querySelector("svg").width.baseVal.value - view.signal(width);
  return async (across) => {
    if (!across) return; // in a folded section
    const wanted = widthIn(across - beside, square);
    const short = wanted - view.signal(width);
    if (short >= 0 && short <= SLACK) return;
    view.signal(width, wanted);
    if (square) view.signal(height, wanted);
    await view.resize().runAsync();
  };
}

function legend(figure, view, { entries, square }) {
  const place = figure.querySelector(".legend");
  const off = new Set();
  for (const { name, area, colour, dash } of entries) {
    const button = element("button", { type: "button", ariaPressed: "true" });
    const line = document.createElementNS(SVG, "svg");
    line.setAttribute("aria-hidden", "true");
    line.setAttribute("width", square ? 12 : 26);
    line.setAttribute("height", 12);
    const stroke = document.createElementNS(SVG, "path");
    stroke.setAttribute("d", `M0 6H${square ? 12 : 26}`);
    stroke.setAttribute("stroke", colour);
    stroke.setAttribute("stroke-width", square ? 12 : 2.6);
    stroke.setAttribute("stroke-dasharray", dash.join(" "));
    line.append(stroke);
    button.append(line, element("span", { textContent: name }), element("small", { textContent: area }));
    button.addEventListener("click", () => {
      off[off.has(name) ? "delete" : "add"](name);
      button.ariaPressed = String(!off.has(name));
      view.signal("off", [...off]).runAsync();
    });
    place.append(button);
  }
  place.hidden = false;
}

function tools(figure, view, spec) {
  const place = element("div", { className: "tools", role: "group", ariaLabel: "Chart tools" });
  const add = (text, label, act) => {
    const button = element("button", { type: "button", textContent: text, ariaLabel: label, title: label });
    button.addEventListener("click", act);
    place.append(button);
  };
  if (!spec.spec && !spec.concat && hasSignal(view, "zoom_x") && hasSignal(view, "zoom_y")) {
    add("+", "Zoom in", () => zoom(view, spec, 0.5));
    add("−", "Zoom out", () => zoom(view, spec, 2));
    add("whole", "whole chart", () => zoom(view, spec, null));
    figure.querySelector(".chart").addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(view, spec, event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
  }
  const title = spec.description ?? "chart";
  add("PNG", `Save as PNG: ${title}`, async () => save(await picture(figure, spec, "png"), "png"));
  add("SVG", `Save as SVG: ${title}`, async () => save(await picture(figure, spec, "svg"), "svg"));
  add("CSV", `Save the data as CSV: ${title}`, () => saveCsv(dataLines(tableOf(spec, moverOf(figure)))));
  figure.append(place);
}

const hasSignal = (view, name) => name in view.getState().signals;

// Zooms around the operating point, or around the middle.
function zoom(view, spec, factor) {
  const dot = spec.layer?.find(({ data, mark }) => data?.name === "here" && mark.type === "point")?.encoding;
  for (const side of ZOOMED) {
    if (factor === null) {
      view.signal(`zoom_${side}`, null);
      continue;
    }
    const scale = view.scale(side);
    const [low, high] = scale.range();
    const middle = dot && scale(view.data("here")[0]?.[dot[side].field]);
    const centre = Number.isFinite(middle) ? middle : (low + high) / 2;
    view.signal(`zoom_${side}`, [low, high].map((end) => scale.invert(centre + (end - centre) * factor)));
  }
  view.runAsync();
}

// The chart as it is without this page: with its legend, on white.
async function picture(figure, spec, kind) {
  const { view, finalize } = await window.vegaEmbed(document.createElement("div"), { ...spec, background: "white" }, OPTIONS);
  setHere(view, spec, moverOf(figure));
  await view.runAsync();
  const found = kind === "svg" ? new Blob([await view.toSVG()], { type: "image/svg+xml" }) : await canvasBlob(await view.toCanvas(2));
  finalize();
  return found;
}

const canvasBlob = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

// The rows that a chart is mostly made of.
function tableOf(spec, one) {
  if (spec.datasets.sweep) return one.sweep(one);
  return Object.entries(spec.datasets).filter(([name]) => name !== "here").map(([, rows]) => rows).reduce((a, b) => (b.length > a.length ? b : a), []);
}

function dataLines(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))];
}

// What the pointer shows: the point that is drawn, and what the mover has to say of it.
function hovered(value, text, one) {
  const rows = typeof value === "object" ? Object.entries(value) : [["", value]];
  if (one?.hover) rows.push(...one.hover(one, value));
  const line = ([name, content]) => `<tr><td class="key">${text(name)}</td><td class="value">${text(content)}</td></tr>`;
  return `<table>${rows.map(line).join("")}</table>`;
}

// --- what follows a mover

function setHere(view, spec, one) {
  if (!spec.datasets?.here || !one?.row) return false;
  const { row, seen } = one;
  view.signal("model", row.model);
  if (layers(spec).some(({ data }) => data?.name === "here")) view.data("here", [row]);
  if (spec.datasets.sweep && view.lookedAt !== seen) {
    view.data("sweep", one.sweep(one));
    view.lookedAt = seen;
  }
  return true;
}

function follow(figure, view, spec) {
  const one = moverOf(figure);
  if (!one || !spec.datasets?.here) return;
  // What is out of sight follows once it is seen: a move has a few milliseconds, and each chart takes one of them.
  let seen = false;
  const update = () => seen && setHere(view, spec, one) && view.runAsync();
  one.followers.add(update);
  new IntersectionObserver((entries) => {
    seen = entries.at(-1).isIntersecting;
    update();
  }, { rootMargin: "100px" }).observe(figure);
  addEventListener("beforeprint", () => setHere(view, spec, one) && view.run());
  if (figure.classList.contains("drag")) drag(figure.querySelector(".chart"), view, one);
}

// Along the curve the pointer moves the operating point to the nearest place.
function drag(place, view, one) {
  const REACH = 40;
  let held = null; // the places of the model in pixels, while it is dragged
  const pixels = () => {
    const [across, up] = ZOOMED.map((side) => view.scale(side));
    return one.along.spots(one.model).map(([x, y]) => [across(x), up(y)]);
  };
  const nearest = (event, spots) => {
    const box = place.querySelector("svg").getBoundingClientRect();
    const [left, above] = view.origin();
    const [x, y] = [event.clientX - box.left - left, event.clientY - box.top - above];
    let found = { place: 0, distance: Infinity };
    spots.forEach((spot, k) => {
      const distance = Math.hypot(spot[0] - x, spot[1] - y);
      if (distance < found.distance) found = { place: k, distance };
    });
    return found;
  };
  const move = (event, spots) => change(one, one.along.state(one.model, nearest(event, spots).place), { still: false });
  place.addEventListener("pointerdown", (event) => {
    const spots = pixels();
    if (one.model.crisp || event.button || nearest(event, spots).distance > REACH) return;
    held = spots;
    place.setPointerCapture(event.pointerId);
    event.preventDefault();
    move(event, held);
  });
  place.addEventListener("pointermove", (event) => held && move(event, held));
  for (const end of ["pointerup", "pointercancel"])
    place.addEventListener(end, () => {
      if (held) remember();
      held = null;
    });
}

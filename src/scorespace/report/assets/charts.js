// Draws the charts of the report. Models can be hidden, curves zoomed, charts and data saved; marks follow the operating
// point.

const NARROWEST = 140;
const WIDEST_SQUARE = 460;
const [AXIS_MARGIN, LABEL_MARGIN] = [90, 135]; // typical width of axes, and of lines with labels at their ends
const SLACK = 30; // pixels by which a chart may be narrower than its container
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
  figure.dataset.drawn = "pending";
  try {
    const spec = specOf(figure);
    const names = namesOf(spec);
    const tooltip = { ...OPTIONS.tooltip, formatTooltip: (value, text) => hovered(value, text, panelOf(figure)) };
    const across = place.clientWidth; // read before drawing, to avoid a layout pass
    const room = roomFor(figure);
    const { view } = await window.vegaEmbed(place, sized(spec, across, room), { ...OPTIONS, tooltip, patch: (chart) => patched(chart, names) });
    const fit = fitter(view, place, spec, room);
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

// The spec of a figure; one that shows the chart of another figure refers to it by its key.
function specOf(figure) {
  const spec = { config: THEME, ...JSON.parse(figure.querySelector("script").textContent) };
  if (spec.same) return specOf([...document.querySelectorAll("figure.picture")].find(({ dataset }) => dataset.key === spec.same));
  return spec.usermeta?.linear && axes.value === "linear" ? onLinearAxis(spec) : spec;
}

// Charts that open with a log axis can be drawn on a linear one.
const axes = {
  value: "log",
  written: () => (axes.value === "log" ? {} : { axes: axes.value }),
  read: (query) => setAxes(query.get("axes") === "linear" ? "linear" : "log"),
};
views.push(axes);
axes.value = new URLSearchParams(location.hash.slice(1)).get("axes") === "linear" ? "linear" : "log";

function setAxes(value) {
  if (value === axes.value) return;
  axes.value = value;
  for (const figure of document.querySelectorAll('figure[data-drawn="yes"][data-axes]')) {
    figure.querySelector(".menu")?.remove();
    const place = figure.querySelector(".chart");
    place.replaceWith(place.cloneNode(false)); // without the listeners of the old chart
    mount(figure);
  }
}

function onLinearAxis(spec) {
  const { x, layers: more } = spec.usermeta.linear;
  const linear = (layer) => layer.encoding?.x?.scale?.type === "log" ? { ...layer, encoding: { ...layer.encoding, x: { ...layer.encoding.x, ...x } } } : layer;
  return { ...spec, layer: [...spec.layer.map(linear), ...more] };
}

// All layers of a chart or of its panels.
const layers = (spec) => [spec, ...[spec.layer, spec.concat, [spec.spec]].flatMap((parts) => (parts ?? []).filter(Boolean).flatMap(layers))];

// Legend entries of a chart with several colours.
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

// Adds to the compiled chart: a filter of hidden models and zoomable scales; the HTML legend replaces its own.
function patched(chart, names) {
  silence(chart); // the chart has one description; single marks need none
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
    const update = mark.encode?.update ?? {}; // descriptions of single points are slow
    delete update.description;
    if (marks.some(({ from }) => from?.data === mark.name)) delete update.tooltip; // the Voronoi cells show it
    silence(mark);
  }
}

const isSquare = ({ width, height }) => width === height;
const widthIn = (available, square, room) => Math.max(NARROWEST, Math.floor(square ? Math.min(available, room ?? WIDEST_SQUARE) : available));

// The height of the large chart of a panel: what the window leaves, between 320 and 460 pixels; of other charts their own.
function roomFor(figure) {
  const charts = figure.closest(".charts, #panel > .pictures");
  if (!charts) return null;
  const above = charts.getBoundingClientRect().top + scrollY + 130; // with what is above the plot and the axis below it
  return Math.max(320, Math.min(WIDEST_SQUARE, innerHeight - above));
}

// Sets the approximate final size, to avoid drawing twice.
function sized(spec, across, room) {
  const panel = spec.spec ?? spec; // in charts of several panels, the size of each
  if (!across || !panel.width) return spec;
  const hasEndLabels = layers(spec).some(({ mark, name }) => mark?.type === "text" && mark.align === "left" && name !== "beside");
  const width = widthIn(across - (hasEndLabels ? LABEL_MARGIN : AXIS_MARGIN), isSquare(panel), room);
  const size = { width, height: isSquare(panel) ? width : room ?? panel.height };
  return spec.spec ? { ...spec, spec: { ...panel, ...size } } : { ...spec, ...size };
}

// Returns a function that fits a chart to the width of its container; square charts stay square.
function fitter(view, place, spec, room) {
  const panel = spec.spec ?? spec;
  if (!panel.width) return async () => {}; // concatenated charts are scaled as images
  const [width, height] = ["width", "height"].map((side) => (spec.spec ? `child_${side}` : side));
  const square = isSquare(panel);
  // The width of axes and labels is known after the first drawing.
  const margin = place.querySelector("svg").width.baseVal.value - view.signal(width);
  return async (across) => {
    if (!across) return; // in a collapsed section
    const target = widthIn(across - margin, square, room);
    const missing = target - view.signal(width);
    if (missing >= 0 && missing <= SLACK) return;
    view.signal(width, target);
    if (square) view.signal(height, target);
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

// One menu per chart.
function tools(figure, view, spec) {
  const title = spec.description ?? "chart";
  const menu = element("details", { className: "menu" });
  const items = element("div", { className: "items" });
  menu.append(element("summary", { textContent: "⋯", ariaLabel: `Menu of the chart: ${title}` }), items);
  const add = (text, act) => {
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", act);
    items.append(button);
  };
  if (!spec.spec && !spec.concat && hasSignal(view, "zoom_x") && hasSignal(view, "zoom_y")) {
    add("Zoom in", () => zoom(view, spec, 0.5));
    add("Zoom out", () => zoom(view, spec, 2));
    add("Reset zoom", () => zoom(view, spec, null));
    figure.querySelector(".chart").addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(view, spec, event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
  }
  if (spec.usermeta?.linear) {
    figure.dataset.axes = axes.value;
    add(axes.value === "log" ? "Linear axis" : "Log axis", () => {
      setAxes(axes.value === "log" ? "linear" : "log");
      remember();
    });
  }
  const name = figure.dataset.key ?? figure.querySelector(".chart").ariaLabel;
  add("Save as PNG", async () => save(await picture(figure, spec, "png"), "png", name));
  add("Save as SVG", async () => save(await picture(figure, spec, "svg"), "svg", name));
  add("Save data as CSV", () => saveCsv(dataLines(tableOf(spec, panelOf(figure))), name));
  figure.prepend(menu);
}

const hasSignal = (view, name) => name in view.getState().signals;

// Zooms around the operating point, or around the centre.
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

// The chart as an image file: with its legend, on white.
async function picture(figure, spec, kind) {
  const { view, finalize } = await window.vegaEmbed(document.createElement("div"), { ...spec, background: "white" }, OPTIONS);
  setMarker(view, spec, panelOf(figure));
  await view.runAsync();
  const found = kind === "svg" ? new Blob([await view.toSVG()], { type: "image/svg+xml" }) : await canvasBlob(await view.toCanvas(2));
  finalize();
  return found;
}

const canvasBlob = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

// The data of a chart: of one with an operating point, all kept thresholds of all models at full precision; of another,
// its largest dataset.
function tableOf(spec, controller) {
  const swept = Object.keys(spec.datasets).find((name) => controller?.swept?.[name]);
  if (swept) return controller.swept[swept](controller);
  const axes = axesOf(spec);
  if (axes?.y && controller?.content.models[0].threshold)
    return controller.content.models.flatMap((model) => controller.along.rows(model).map((row) => Object.fromEntries(["model", ...new Set(["threshold", axes.x, axes.y])].map((name) => [name, row[name]]))));
  return Object.entries(spec.datasets).filter(([name]) => name !== "here").map(([, rows]) => rows).reduce((a, b) => (b.length > a.length ? b : a), []);
}

// The fields of the operating point in a chart: of its dot, or of its rule, which has no height.
function axesOf(spec) {
  const marks = (spec.layer ?? []).filter(({ data }) => data?.name === "here");
  const found = marks.find(({ mark }) => mark.type === "point") ?? marks.find(({ encoding }) => !encoding.x2);
  return found ? { x: found.encoding.x.field, y: found.encoding.y?.field } : null;
}

function dataLines(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))];
}

// Tooltip: the values of the point, and the rows of its panel.
function hovered(value, text, controller) {
  const rows = typeof value === "object" ? Object.entries(value) : [["", value]];
  if (controller?.hover) rows.push(...controller.hover(controller, value));
  const line = ([name, content]) => `<tr><td class="key">${text(name)}</td><td class="value">${text(content)}</td></tr>`;
  return `<table>${rows.map(line).join("")}</table>`;
}

// --- charts linked to a panel

function setMarker(view, spec, controller) {
  if (!spec.datasets?.here || !controller?.row) return false;
  const { row, seen } = controller;
  view.signal("model", row.model);
  if (layers(spec).some(({ data }) => data?.name === "here")) view.data("here", [row]);
  const swept = Object.keys(spec.datasets).find((name) => controller.swept?.[name]);
  if (swept && view.lookedAt !== seen) {
    view.data(swept, controller.swept[swept](controller));
    view.lookedAt = seen;
  }
  return true;
}

function follow(figure, view, spec) {
  const controller = panelOf(figure);
  if (!controller || !spec.datasets?.here) return;
  // Invisible charts are updated when they become visible, to keep dragging fast.
  let seen = false;
  const update = () => seen && setMarker(view, spec, controller) && view.runAsync();
  controller.followers.delete(figure.follower);
  controller.followers.add((figure.follower = update));
  new IntersectionObserver((entries) => {
    seen = entries.at(-1).isIntersecting;
    update();
  }, { rootMargin: "100px" }).observe(figure);
  addEventListener("beforeprint", () => setMarker(view, spec, controller) && view.run());
  const axes = axesOf(spec);
  if (figure.classList.contains("drag") && axes) drag(figure.querySelector(".chart"), view, controller, axes);
}

// Drags the operating point to the nearest point of the curve, or in a chart of thresholds to the nearest threshold.
function drag(place, view, controller, { x: across, y: up }) {
  const MAX_DISTANCE = 40;
  let spotsInPixels = null; // points of the model in pixels, while dragging
  const pixels = () => {
    const [right, down] = ZOOMED.map((side) => view.scale(side));
    const at = (scale, value) => (value === null ? NaN : scale(value));
    const rows = controller.along.rows(controller.model);
    return rows.map((row) => [at(right, row[across]), across === "threshold" ? null : at(down, row[up])]);
  };
  const nearest = (event, spots) => {
    const box = place.querySelector("svg").getBoundingClientRect();
    const [left, above] = view.origin();
    const [x, y] = [event.clientX - box.left - left, event.clientY - box.top - above];
    let found = { place: 0, distance: Infinity };
    spots.forEach((spot, k) => {
      const distance = Math.hypot(spot[0] - x, spot[1] === null ? 0 : spot[1] - y);
      if (distance < found.distance) found = { place: k, distance };
    });
    return found;
  };
  const move = (event, spots) => change(controller, controller.along.state(controller.model, nearest(event, spots).place), { still: false });
  place.addEventListener("pointerdown", (event) => {
    const spots = pixels();
    if (controller.model.crisp || event.button || nearest(event, spots).distance > MAX_DISTANCE) return;
    spotsInPixels = spots;
    place.setPointerCapture(event.pointerId);
    event.preventDefault();
    move(event, spotsInPixels);
  });
  place.addEventListener("pointermove", (event) => spotsInPixels && move(event, spotsInPixels));
  for (const end of ["pointerup", "pointercancel"])
    place.addEventListener(end, () => {
      if (spotsInPixels) remember();
      spotsInPixels = null;
    });
}

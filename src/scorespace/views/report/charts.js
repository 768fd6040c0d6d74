// Draws every chart of the page, the first ones at once and the others when there is time. Models can be switched off,
// curves zoomed, pictures and data saved; marks follow the operating point.

const NARROWEST = 140;
const WIDEST_SQUARE = 460;
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
    const { view } = await window.vegaEmbed(place, spec, { ...OPTIONS, patch: (chart) => patched(chart, names) });
    const fit = fitter(view, place, spec);
    await fit();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    if (names) legend(figure, view, names);
    tools(figure, view, spec);
    if (operating) follow(figure, view, spec);
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
    silence(mark);
  }
}

// A function that makes a chart as wide as its place, and keeps the square ones square.
function fitter(view, place, spec) {
  const panel = spec.spec ?? spec; // a chart of several panels sizes each of them
  const [width, height] = ["width", "height"].map((side) => (spec.spec ? `child_${side}` : side));
  const square = panel.width === panel.height;
  // What axes and labels add beside the plot is known once it has been drawn in its own size.
  const beside = place.querySelector("svg").width.baseVal.value - view.signal(width);
  return async () => {
    if (!place.clientWidth) return; // in a folded section
    const room = Math.min(place.clientWidth - beside, square ? WIDEST_SQUARE : Infinity);
    const wanted = Math.max(NARROWEST, Math.floor(room));
    if (wanted === view.signal(width)) return;
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
    add("+", "Zoom in", () => zoom(view, 0.5));
    add("−", "Zoom out", () => zoom(view, 2));
    add("whole", "whole chart", () => zoom(view, null));
    figure.querySelector(".chart").addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(view, event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
  }
  const title = spec.description ?? "chart";
  add("PNG", `Save as PNG: ${title}`, async () => save(await picture(spec, "png"), "png"));
  add("SVG", `Save as SVG: ${title}`, async () => save(await picture(spec, "svg"), "svg"));
  add("CSV", `Save the data as CSV: ${title}`, () => save(new Blob([csv(tableOf(spec))], { type: "text/csv" }), "csv"));
  figure.append(place);
}

const hasSignal = (view, name) => name in view.getState().signals;

// Zooms around the operating point, or around the middle.
function zoom(view, factor) {
  for (const side of ZOOMED) {
    if (factor === null) {
      view.signal(`zoom_${side}`, null);
      continue;
    }
    const scale = view.scale(side);
    const [low, high] = scale.range();
    const row = "here" in view.getState({ data: (name) => name === "here" }).data ? view.data("here")[0] : undefined;
    const middle = scale(side === "x" ? row?.fpr : row?.tpr);
    const centre = Number.isFinite(middle) ? middle : (low + high) / 2;
    view.signal(`zoom_${side}`, [low, high].map((end) => scale.invert(centre + (end - centre) * factor)));
  }
  view.runAsync();
}

// The chart as it is without this page: with its legend, on white.
async function picture(spec, kind) {
  const { view, finalize } = await window.vegaEmbed(document.createElement("div"), { ...spec, background: "white" }, OPTIONS);
  if (operating) view.signal && setHere(view, spec);
  await view.runAsync();
  const found = kind === "svg" ? new Blob([await view.toSVG()], { type: "image/svg+xml" }) : await canvasBlob(await view.toCanvas(2));
  finalize();
  return found;
}

const canvasBlob = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

function save(blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `${fileName()}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = () => document.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "chart";

// The rows that a chart is mostly made of.
function tableOf(spec) {
  return Object.entries(spec.datasets).filter(([name]) => name !== "here").map(([, rows]) => rows).reduce((a, b) => (b.length > a.length ? b : a), []);
}

function csv(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const line = (cells) => cells.map(cellText).join(",");
  return `${[line(names), ...rows.map((row) => line(names.map((name) => row[name])))].join("\n")}\n`;
}

// Text that a spreadsheet would compute begins with an apostrophe.
function cellText(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// --- the operating point

let lastRow = null;
let lastModel = null;

function setHere(view, spec) {
  if (!spec.datasets?.here || !lastRow) return false;
  view.signal("model", lastRow.model).data("here", [lastRow]);
  if (spec.datasets.sweep && view.lookedAt !== lastModel) {
    view.data("sweep", sweep(lastModel));
    view.lookedAt = lastModel;
  }
  return true;
}

function follow(figure, view, spec) {
  if (!spec.datasets?.here) return;
  const update = () => {
    if (figure.getClientRects().length && setHere(view, spec)) view.runAsync();
  };
  followers.add(update);
  new ResizeObserver(update).observe(figure); // also when its section is opened
  update();
  if (figure.classList.contains("drag")) drag(figure.querySelector(".chart"), view);
}

// The measures of a model against the threshold, few enough points for a pointer to find its way.
function sweep(model) {
  const step = Math.ceil(model.threshold.length / 300);
  return operating.measures.flatMap(({ title, whole }, k) =>
    whole ? [...model.shown[k][0]].flatMap((y, place) => {
      const x = model.threshold[place];
      if (place % step || !Number.isFinite(x) || !Number.isFinite(y)) return [];
      return [{ name: title, place, x, y, threshold: general(x, 6) }];
    }) : []);
}

// Along the curve the pointer moves the operating point to the nearest threshold.
function drag(place, view) {
  const REACH = 40;
  let held = false;
  const nearest = (event) => {
    const svg = place.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const [left, above] = view.origin();
    const [x, y] = [event.clientX - box.left - left, event.clientY - box.top - above];
    const [across, up] = ZOOMED.map((side) => view.scale(side));
    const model = operating.models[state.model];
    let found = { place: 0, distance: Infinity };
    for (let k = 0; k < model.threshold.length; k += 1) {
      const [tpr, fpr] = rates(model, k);
      const distance = Math.hypot(across(fpr) - x, up(tpr) - y);
      if (distance < found.distance) found = { place: k, distance };
    }
    return { ...found, at: model.threshold[found.place], crisp: model.crisp };
  };
  place.addEventListener("pointerdown", (event) => {
    const { distance, at, crisp } = nearest(event);
    if (crisp || distance > REACH || event.button) return;
    held = true;
    place.setPointerCapture(event.pointerId);
    event.preventDefault();
    change({ at }, { still: false });
  });
  place.addEventListener("pointermove", (event) => held && change({ at: nearest(event).at }, { still: false }));
  for (const end of ["pointerup", "pointercancel"])
    place.addEventListener(end, () => {
      if (held) remember();
      held = false;
    });
}

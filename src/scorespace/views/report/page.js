// Mounts every chart of the page, shows hints beside their words, and marks the section in view.

const NARROWEST = 140;
const WIDEST_SQUARE = 460;
const OPTIONS = {
  actions: false,
  ast: true, // expressions are interpreted, never evaluated as code
  defaultStyle: false,
  renderer: "svg", // sharp in print, and coloured by the style sheet
  tooltip: { disableDefaultStyle: true },
};

for (const figure of document.querySelectorAll("figure.picture")) mount(figure);
for (const word of document.querySelectorAll(".hint")) attachHint(word, document.getElementById("hint"));
followSections(document.querySelectorAll("main section[id]"));

async function mount(figure) {
  const place = figure.querySelector(".chart");
  try {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const { view } = await window.vegaEmbed(place, spec, OPTIONS);
    const fit = fitter(view, place, spec);
    await fit();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    figure.dataset.drawn = "yes";
  } catch (error) {
    console.error(error);
    place.textContent = `This chart could not be drawn: ${error.message}`;
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
    const room = Math.min(place.clientWidth - beside, square ? WIDEST_SQUARE : Infinity);
    const wanted = Math.max(NARROWEST, Math.floor(room));
    if (wanted === view.signal(width)) return;
    view.signal(width, wanted);
    if (square) view.signal(height, wanted);
    await view.resize().runAsync();
  };
}

// One box serves all hints: it floats above the page, so that no scrolling table cuts it off.
function attachHint(word, box) {
  const text = word.title;
  word.removeAttribute("title");
  word.setAttribute("aria-description", text);
  const show = () => {
    box.textContent = text;
    box.showPopover();
    const below = word.getBoundingClientRect();
    const left = Math.min(below.left, document.documentElement.clientWidth - box.offsetWidth - 12);
    box.style.left = `${Math.max(12, left)}px`;
    box.style.top = `${below.bottom + 6}px`;
  };
  const hide = () => box.hidePopover();
  for (const event of ["pointerenter", "focus", "click"]) word.addEventListener(event, show);
  for (const event of ["pointerleave", "blur"]) word.addEventListener(event, hide);
  word.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
}

function followSections(sections) {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    const first = [...sections].find((section) => inView.has(section));
    for (const [id, link] of links) link.toggleAttribute("aria-current", id === first?.id);
  }, { rootMargin: "-15% 0px -55% 0px" });
  for (const section of sections) observer.observe(section);
}

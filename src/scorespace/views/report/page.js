// Starts the page: the panel, then its charts, hints beside their words, and the section in view.

const element = (name, properties) => Object.assign(document.createElement(name), properties);

wireAll();
drawAll();
for (const word of document.querySelectorAll(".hint")) attachHint(word, document.getElementById("hint"));
followSections(document.querySelectorAll("main section[id]"));
wireShare();

// What is in view first; the rest one by one, whenever the page has nothing else to do.
async function drawAll() {
  const figures = [...document.querySelectorAll("figure.picture")];
  if (!figures.length) return; // then nothing here can draw
  const first = figures.filter((figure) => figure.getClientRects().length && figure.getBoundingClientRect().top < innerHeight);
  await Promise.all(first.map(mount));
  for (const figure of figures) {
    if (figure.dataset.drawn) continue;
    await new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done, { timeout: 200 }));
    await mount(figure);
  }
}

function wireShare() {
  const share = document.querySelector(".share");
  if (!share) return;
  share.hidden = false;
  document.getElementById("print").addEventListener("click", () => print());
  document.getElementById("link")?.addEventListener("click", async ({ target }) => {
    history.replaceState(null, "", written());
    try {
      await navigator.clipboard.writeText(location.href);
      target.textContent = "Link copied";
    } catch {
      target.textContent = "The address bar holds the link";
    }
  });
  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
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

// Links to sections open what is folded, and leave the address to the operating point.
function followSections(sections) {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  for (const [id, link] of links) link.addEventListener("click", (event) => {
    event.preventDefault();
    reach(document.getElementById(id));
  });
  const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (asked) reach(asked);
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    const first = [...sections].find((section) => inView.has(section));
    for (const [id, link] of links) link.toggleAttribute("aria-current", id === first?.id);
  }, { rootMargin: "-15% 0px -55% 0px" });
  for (const section of sections) observer.observe(section);
}

function reach(section) {
  const folded = section.querySelector(":scope > details");
  if (folded) folded.open = true;
  section.scrollIntoView();
  section.focus({ preventScroll: true });
}

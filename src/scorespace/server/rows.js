// Served, the page leads from each outcome to the rows behind it; a page in a file has no rows to lead to.

const rowsAt = (given) => `/rows?${new URLSearchParams([...new URLSearchParams(location.search), ...Object.entries(given)])}`;

function lead({ panel }, name, given) {
  const cell = panel.querySelector(`[data-say="${name}"]`)?.closest("td");
  if (!cell) return;
  const link = cell.querySelector("a.rows") ?? cell.appendChild(document.createElement("a"));
  link.className = "rows";
  link.textContent = "rows";
  link.href = rowsAt(given);
}

for (const one of movers) one.followers.add((row, model) => {
  if (one.panel.id === "operating") {
    // The threshold whose outcomes are shown, which may be the nearest that is kept.
    const at = model.crisp ? {} : { threshold: model.threshold[placeOf(model, one.state.at)] };
    for (const side of ["tp", "fp", "fn", "tn"]) lead(one, side, { model: model.name, cell: side, ...at });
  } else if (one.panel.id === "several" && one.content.small) {
    const place = leadPlace(model, one.state);
    const ahead = place ? { lead: model.lead[place] } : {};
    one.content.classes.forEach((actual, i) => one.content.classes.forEach((decided, k) =>
      lead(one, `cell ${i} ${k}`, { model: model.name, actual, decided, ...ahead })));
  }
});

// In a served report: tells the page around it the state of the view, and which rows are requested.

const tell = (content) => parent !== window && parent.postMessage(content, location.origin);

function addRowsButton({ panel }, name, wanted) {
  const cell = panel.querySelector(`[data-say="${name}"]`)?.closest("td");
  if (!cell) return;
  const button = cell.querySelector("button.rows") ?? cell.appendChild(Object.assign(document.createElement("button"), { type: "button", className: "rows", textContent: "rows" }));
  button.onclick = () => tell({ rows: wanted });
}

for (const controller of panels) controller.followers.add((row, model) => {
  if (panels.every(({ state }) => state)) tell({ hash: written() });
  if (controller.panel.id === "operating") {
    // The kept threshold whose outcomes are shown.
    const at = model.crisp ? {} : { threshold: model.threshold[placeOf(model, controller.state.at)] };
    tell({ shown: { model: model.name, ...at } });
    for (const cell of ["tp", "fp", "fn", "tn"]) addRowsButton(controller, cell, { model: model.name, cell, ...at });
  } else if (controller.panel.id === "multiclass" && controller.content.small) {
    const place = leadPlace(model, controller.state);
    const ahead = place ? { lead: model.lead[place] } : {};
    controller.content.classes.forEach((actual, i) => controller.content.classes.forEach((decided, k) =>
      addRowsButton(controller, `cell ${i} ${k}`, { model: model.name, actual, decided, ...ahead })));
  }
});

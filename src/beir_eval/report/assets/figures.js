// Figures: Vega-Lite specifications, drawn by Vega without evaluating any text as a program.
"use strict";

const tip = byId("tip");

/** Show what a mark stands for beside the pointer. */
function showTip(handler, event, item, value) {
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  tip.replaceChildren(
    ...Object.entries(value)
      .filter(([, shown]) => shown !== "" && shown !== "undefined")
      .map(([name, shown]) => make("div", {}, make("b", { text: `${name}: ` }), String(shown))),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - width - 6);
  const below = event.clientY + 14;
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${below + height > window.innerHeight ? event.clientY - height - 10 : below}px`;
}

window.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

/** Draw a specification into an element; rows and diagonal replace its data where given. */
function draw(place, specification, { rows, diagonal, onClick } = {}) {
  const spec = structuredClone(specification);
  if (rows) spec.datasets.rows = rows;
  if (diagonal) spec.datasets.diagonal = diagonal;
  if (place.drawn) place.drawn.finalize();
  const parsed = vega.parse(vegaLite.compile(spec).spec, null, { ast: true });
  const view = new vega.View(parsed, {
    expr: vega.expressionInterpreter,
    renderer: "svg",
    container: place,
    hover: false,
    logLevel: vega.Warn,
  });
  view.tooltip(showTip);
  if (onClick) {
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && item.datum.index !== undefined) onClick(item.datum.index);
    });
  }
  place.drawn = view;
  return view.runAsync();
}

for (const place of document.querySelectorAll("[data-figure]")) {
  draw(place, report.figures[place.dataset.figure]);
}

// Figures: Vega-Lite specifications, drawn by Vega without evaluating any text as a program.
"use strict";

const tip = byId("tip");

/** Show the fields of a mark beside the pointer; `names` replaces names of fields. */
function showTip(event, value, names) {
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  tip.replaceChildren(
    ...Object.entries(value)
      .filter(([, shown]) => shown !== "" && shown !== "undefined")
      .map(([name, shown]) => make("div", {}, make("b", { text: `${names.get(name) ?? name}: ` }), String(shown))),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - width - 6);
  const below = event.clientY + 14;
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${below + height > window.innerHeight ? event.clientY - height - 10 : below}px`;
}

window.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

/** Draw a specification into an element, or a message if it cannot be drawn; never throw. */
function draw(container, specification, options = {}) {
  try {
    drawOrThrow(container, specification, options);
  } catch (error) {
    container.replaceChildren(make("p", { text: `This chart cannot be drawn: ${error.message}`, className: "empty" }));
  }
}

/** Draw a specification; rows and diagonal replace its data if they are given. */
function drawOrThrow(container, specification, { rows, diagonal, onClick, names = new Map() }) {
  const spec = structuredClone(specification);
  if (rows) spec.datasets.rows = rows;
  if (diagonal) spec.datasets.diagonal = diagonal;
  if (container.drawn) container.drawn.finalize();
  container.drawn = null;
  if (!spec.datasets.rows.length) {
    container.replaceChildren(make("p", { text: "No query has a score.", className: "empty" }));
    return;
  }
  const parsed = vega.parse(vegaLite.compile(spec).spec, null, { ast: true });
  const view = new vega.View(parsed, {
    expr: vega.expressionInterpreter,
    renderer: "svg",
    container,
    hover: false,
    logLevel: vega.Warn,
  });
  view.tooltip((handler, event, item, value) => showTip(event, value, names));
  if (onClick) {
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && item.datum.index !== undefined) onClick(item.datum.index);
    });
  }
  container.drawn = view;
  view.run();
  // A screen reader gets one description of the chart; the tables hold the numbers.
  container.setAttribute("role", "img");
  container.setAttribute("aria-label", spec.description);
  container.querySelector("svg")?.setAttribute("aria-hidden", "true");
}

/** Draw a figure at once, or, if it is in a folded section, when that is unfolded. */
function drawWhenSeen(container) {
  const folded = container.closest("details:not([open])");
  const specification = report.figures[container.dataset.figure];
  if (!folded) draw(container, specification);
  else folded.addEventListener("toggle", () => draw(container, specification), { once: true });
}

for (const container of document.querySelectorAll("[data-figure]")) drawWhenSeen(container);

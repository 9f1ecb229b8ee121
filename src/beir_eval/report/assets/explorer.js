// The queries of the chosen pair as charts and as a table; a click on a query shows its rankings.
"use strict";

const state = {
  part: null, measure: null, system: 0, against: null, query: null, table: null,
};
const hasPair = () => state.against !== null;
const lowerIsBetter = () => state.part.lower_is_better.includes(state.measure);
/** Return a difference of scores as a gain: above 0 where the first score is the better one. */
const gainOf = (difference) => (lowerIsBetter() ? -difference : difference);
const scoresOf = (system) => state.part.scores[state.measure][system];

function fill(select, names, chosen) {
  select.replaceChildren(...names.map((text, index) => {
    const option = make("option", { text });
    option.value = String(index);
    option.selected = index === chosen;
    return option;
  }));
}

/** Return one row per query, for the charts and the table. */
function queryRows() {
  const { part, system, against } = state;
  const ours = scoresOf(system);
  const theirs = hasPair() ? scoresOf(against) : null;
  return part.queries.map(([query, text], index) => ({
    index,
    query,
    text,
    score: ours[index],
    against: theirs ? theirs[index] : null,
    difference: theirs ? minus(ours[index], theirs[index]) : null,
  }));
}

const placed = (rows) => rows.map((row, index) => ({ ...row, begin: index, end: index + 1 }));

function withTitles(specification, names) {
  // The specification has placeholders: the pair was not chosen yet when the file was written.
  const text = JSON.stringify(specification);
  const safe = (name) => JSON.stringify(name).slice(1, -1);
  return JSON.parse(text.replace(/@(measure|system|against)@/g, (_, which) => safe(names[which])));
}

function drawCharts(rows) {
  const names = {
    measure: state.measure,
    system: state.part.systems[state.system],
    against: hasPair() ? state.part.systems[state.against] : "",
  };
  const onClick = (index) => choose(index, true);
  const figures = lowerIsBetter() ? report.query_figures_of_losses : report.query_figures;
  const labels = new Map([["score", names.system], ["against", names.against]]);
  if (!hasPair()) {
    const known = rows.filter((row) => row.score !== null).sort((a, b) => gainOf(b.score - a.score));
    draw(byId("sorted"), withTitles(figures.scores, names), { rows: placed(known), onClick, names: labels });
    byId("sorted-caption").textContent =
      `${names.measure} of ${names.system} by query; the dashed line is the mean. Click a bar to see its query.`;
    return;
  }
  const known = placed(
    rows.filter((row) => row.difference !== null).sort((a, b) => gainOf(a.difference - b.difference)),
  );
  const all = known.flatMap((row) => [row.score, row.against]);
  const diagonal = [
    { score: all.reduce((low, score) => Math.min(low, score), 0) },
    { score: all.reduce((high, score) => Math.max(high, score), 0) },
  ];
  draw(byId("sorted"), withTitles(figures.differences, names), { rows: known, onClick, names: labels });
  draw(byId("scatter"), withTitles(figures.scatter, names), { rows: known, diagonal, onClick, names: labels });
  byId("sorted-caption").textContent =
    `${names.measure}: one bar a query, ${names.system} − ${names.against}. Click a bar to see its query.`;
  const [above, below] = lowerIsBetter() ? [names.against, names.system] : [names.system, names.against];
  byId("scatter-caption").textContent =
    `One point a query: above the line ${above} is better, below it ${below}.`;
}

function countsOf(rows) {
  const known = rows.filter((row) => (hasPair() ? row.difference : row.score) !== null);
  const { total, queries } = state.part;
  const all = queries.length < total
    ? `Of the ${queries.length} queries in this file, of ${total} in all: `
    : `${known.length} queries${hasPair() ? ": " : ""}`;
  if (!hasPair()) return all;
  const count = (test) => known.filter(test).length;
  const gained = count((row) => gainOf(row.difference) > 0);
  const lost = count((row) => gainOf(row.difference) < 0);
  const [ours, theirs] = [state.system, state.against].map((index) => state.part.systems[index]);
  return (
    `${all}${ours} is better on ${gained}, ` +
    `equal on ${known.length - gained - lost}, worse on ${lost} than ${theirs}`
  );
}

// Unknown scores come last, in ascending and in descending order.
const nothingLast = (compare) => (a, b) => {
  if (a === null || b === null) return (a === null) - (b === null);
  return compare(a, b);
};
DataTable.type("score-or-none", {
  className: "dt-type-numeric",
  order: { pre: (value) => value, asc: nothingLast((a, b) => a - b), desc: nothingLast((a, b) => b - a) },
});

function columnsOf() {
  const names = state.part.systems;
  const text = DataTable.render.text();
  const shown = (show) => (value, kind) => (kind === "display" ? show(value) : value);
  const scores = { type: "score-or-none", searchable: false };
  const columns = [
    { data: "query", title: "query", className: "query-id", render: text, createdCell: queryCell, type: "string" },
  ];
  if (hasPair()) {
    columns.push({
      data: "difference", title: "difference", render: shown(signed), createdCell: toneCell, ...scores,
    });
  }
  const own = hasPair() ? { className: "query-score" } : {};
  columns.push({ data: "score", title: escaped(names[state.system]), render: shown(score), ...own, ...scores });
  if (hasPair()) {
    columns.push({ data: "against", title: escaped(names[state.against]), render: shown(score), ...own, ...scores });
  }
  if (state.part.queries.some((query) => query[1])) {
    columns.push({ data: "text", title: "text", className: "query-text", render: text, type: "string" });
  }
  return columns;
}

/** Return text escaped for HTML, which DataTables expects in titles. */
function escaped(text) {
  const element = make("span", { text });
  return element.innerHTML;
}

function queryCell(cell, value, row) {
  const button = make("button", { text: String(value), className: "link" });
  button.type = "button";
  // A narrow screen hides the column of texts and shows the text here.
  cell.replaceChildren(button, make("div", { text: row.text, className: "small-text" }));
}

function toneCell(cell, value) {
  if (gainOf(value) > 0) cell.classList.add("gained");
  if (gainOf(value) < 0) cell.classList.add("lost");
}

/** Return the search, page length and order of a table, to keep them when it is made again. */
function choicesOf(table) {
  if (!table) return { search: "", length: 10, order: [[1, "asc"]] };
  return { search: table.search(), length: table.page.len(), order: table.order() };
}

function captionOf(part) {
  const held = Object.keys(part.rankings).length;
  const some = part.has_rankings && held < part.queries.length;
  return `Queries; choose one to see the rankings${some ? ". Those in grey have none in this file" : ""}`;
}

function drawTable(rows) {
  const columns = columnsOf();
  const { search, length, order } = choicesOf(state.table);
  if (state.table) state.table.destroy();
  state.table = null;
  const element = make("table", {}, make("caption", { text: captionOf(state.part) }));
  byId("query-table").replaceChildren(element);
  state.table = new DataTable(element, {
    data: rows,
    columns,
    autoWidth: false,
    deferRender: true,
    pageLength: length,
    lengthMenu: [10, 25, 100, 500],
    search: { search },
    order: order.filter(([column]) => column < columns.length),
    layout: {
      topStart: "search",
      topEnd: "pageLength",
      bottomStart: "info",
      bottomEnd: { paging: { type: "simple_numbers" } },
    },
    language: { search: "Search the queries", lengthMenu: "_MENU_ a page", emptyTable: "No query" },
    createdRow: (row, data) => {
      row.dataset.index = data.index;
      row.classList.toggle("bare", state.part.has_rankings && !state.part.rankings[data.index]);
    },
    drawCallback: () => { markChosen(); markSteps(); },
  });
  element.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr");
    if (row && row.dataset.index !== undefined) choose(Number(row.dataset.index), true);
  });
  for (const table of byId("query-table").querySelectorAll(".dt-layout-table")) {
    table.tabIndex = 0;
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", "Table of queries");
  }
}

function markChosen() {
  for (const row of byId("query-table").querySelectorAll("tbody tr")) {
    const chosen = row.dataset.index === String(state.query);
    row.classList.toggle("chosen", chosen);
    row.querySelector("button")?.setAttribute("aria-pressed", String(chosen));
  }
}

/** Return the rows that match the search, in the order of the table. */
const inOrder = () => state.table.rows({ order: "applied", search: "applied" }).data().toArray();

function markSteps() {
  if (!state.table) return;
  const order = inOrder().map((row) => row.index);
  const position = order.indexOf(state.query);
  byId("previous").disabled = position < 1;
  // If the table does not show the chosen query, "next" goes to the first row.
  byId("next").disabled = position === order.length - 1;
}

function choose(index, byHand) {
  state.query = index;
  const [query, text] = state.part.queries[index];
  const { part, system, against } = state;
  byId("chosen").hidden = false;
  byId("query").textContent = `Query ${query}`;
  byId("query-text").textContent = text;
  const mean = [system, against].some((index) => index !== null && part.repeats[index] > 1) ? " (means of the repeats)" : "";
  const own = `${state.measure}${mean}: ${part.systems[system]} ${score(scoresOf(system)[index])}`;
  byId("query-scores").textContent = hasPair()
    ? `${own}, ${part.systems[against]} ${score(scoresOf(against)[index])}, ` +
      `difference ${signed(minus(scoresOf(system)[index], scoresOf(against)[index]))}`
    : own;
  showRankings(part, index, system, against);
  markChosen();
  markSteps();
  if (byHand) {
    byId("chosen").scrollIntoView({ block: "start" });
    byId("query").focus({ preventScroll: true });
  }
}

/** Turn the table to the page with a query. */
function turnTo(index) {
  const position = inOrder().findIndex((row) => row.index === index);
  const page = Math.floor(position / state.table.page.len());
  if (position >= 0 && page !== state.table.page()) state.table.page(page).draw("page");
}

function step(by) {
  const order = inOrder().map((row) => row.index);
  const next = order[order.indexOf(state.query) + by];
  if (next === undefined) return;
  turnTo(next);
  choose(next, false);
}

function backToTable() {
  turnTo(state.query);
  const button = byId("query-table").querySelector("tr.chosen button") || byId("queries");
  button.scrollIntoView({ block: "center" });
  button.focus();
}

function update() {
  const rows = queryRows();
  byId("counts").textContent = countsOf(rows);
  drawTable(rows);
  drawCharts(rows);
  const first = inOrder()[0];
  if (state.query === null && first) choose(first.index, false);
  else if (state.query !== null) choose(state.query, false);
}

function takePart(index) {
  const part = report.parts[index];
  if (state.table) state.table.destroy();
  Object.assign(state, { part, query: null, table: null, system: part.pair[0], against: part.pair[1] });
  if (!part.measures.includes(state.measure)) state.measure = part.measures[0];
  fill(byId("measure"), part.measures, part.measures.indexOf(state.measure));
  fill(byId("system"), part.systems, state.system);
  if (hasPair()) fill(byId("against"), part.systems, state.against);
  for (const element of document.querySelectorAll(".of-pairs")) element.hidden = !hasPair();
  update();
}

/** Take the chosen systems; if both are the same, change the one that was not just chosen. */
function takePair(changed) {
  const chosen = { system: Number(byId("system").value), against: Number(byId("against").value) };
  if (hasPair() && chosen.system === chosen.against) {
    const other = changed === "system" ? "against" : "system";
    chosen[other] = state[changed];
    byId(other).value = String(chosen[other]);
  }
  state.system = chosen.system;
  if (hasPair()) state.against = chosen.against;
  update();
}

function start() {
  fill(byId("part"), report.parts.map((part) => part.name), 0);
  for (const element of document.querySelectorAll(".of-parts")) element.hidden = report.parts.length < 2;
  byId("part").addEventListener("change", () => takePart(Number(byId("part").value)));
  byId("measure").addEventListener("change", () => {
    state.measure = state.part.measures[Number(byId("measure").value)];
    update();
  });
  byId("system").addEventListener("change", () => takePair("system"));
  byId("against").addEventListener("change", () => takePair("against"));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("back").addEventListener("click", backToTable);
  takePart(0);
}

if (report.parts.length) start();
else byId("explorer").hidden = true;

// The rankings of one query side by side: grades, moves between them, titles and texts.
"use strict";

const rankings = byId("rankings");
let redrawLines = () => {};

/** Return [text of the grade, CSS class]; grades above 0 have one of three tones. */
function gradeOf(part, grade) {
  if (grade === undefined || grade === null) return ["unjudged", "grade-none"];
  if (grade < 0) return [`pooled, ${grade}`, "grade-none"];
  if (grade === 0) return ["grade 0", "grade-0"];
  const tone = Math.min(3, Math.max(1, Math.ceil((3 * grade) / Math.max(part.max_grade, 1e-9))));
  return [`grade ${grade}`, `grade-${part.max_grade === 1 ? 3 : tone}`];
}

/** Return a note: the document is not in the other ranking, as far as that is known. */
function notFound(depth) {
  const text = depth ? `not in its first ${depth}` : "not there";
  return make("span", { text, className: "move only" });
}

/** Return a note with the rank of a document in the other ranking, below the depth shown too. */
function otherRankOf(other, number) {
  const rank = other.ranks.get(number);
  if (rank === undefined) return notFound(other.depth);
  return make("span", { text: `→ ${rank}`, className: "move rank" });
}

/** Return a note on how far a document moved from the left ranking to this one. */
function moveOf(other, number, rank) {
  const before = other.ranks.get(number);
  if (before === undefined) return notFound(other.depth);
  if (before === rank) return make("span", { text: "= same", className: "move same" });
  const [arrow, className] = before > rank ? ["▲", "move up"] : ["▼", "move down"];
  return make("span", { text: `${arrow} ${Math.abs(before - rank)}, was ${before}`, className });
}

/** Return the known depth of a system's ranking, and {document: rank} of the documents shown. */
function ranksOf(part, query, system) {
  const first = (part.rankings[query][system] || []).map((number, index) => [number, index + 1]);
  const deeper = Object.entries((part.elsewhere[query] || [])[system] || {});
  return {
    depth: part.depths[query][system],
    ranks: new Map([...first, ...deeper.map(([number, rank]) => [Number(number), rank])]),
  };
}

function documentOf(part, number) {
  const [id, title, text] = part.documents[number];
  const shown = make("div", { className: "document" });
  if (title) shown.append(make("div", { text: title }));
  shown.append(make("div", { text: id, className: title || text ? "id" : "" }));
  if (text) shown.append(make("details", {}, make("summary", { text: "text" }), make("p", { text })));
  return shown;
}

function listOf(part, query, system, moved) {
  const ranking = part.rankings[query][system];
  if (!ranking) return make("p", { text: "This system has no ranking for the query.", className: "empty" });
  if (!ranking.length) return make("p", { text: "An empty ranking.", className: "empty" });
  const list = make("ol", { className: "ranking" });
  ranking.forEach((number, index) => {
    const [grade, tone] = gradeOf(part, part.grades[query][number]);
    const item = make(
      "li",
      {},
      make("span", { text: String(index + 1), className: "rank" }),
      make("span", { text: grade, className: `grade ${tone}` }),
      documentOf(part, number),
    );
    if (moved) item.append(moved(number, index + 1));
    item.dataset.document = number;
    list.append(item);
  });
  return list;
}

const SVG = "http://www.w3.org/2000/svg";

/** Draw a line from each document on the left to the same document on the right. */
function drawLines(svg, left, right, grades) {
  const top = svg.getBoundingClientRect();
  const middle = (item) => {
    const box = item.getBoundingClientRect();
    return box.top + Math.min(box.height, 40) / 2 - top.top;
  };
  const targets = new Map([...right.querySelectorAll("li")].map((item) => [item.dataset.document, item]));
  svg.replaceChildren();
  for (const item of left.querySelectorAll("li")) {
    const target = targets.get(item.dataset.document);
    if (!target) continue;
    const line = document.createElementNS(SVG, "line");
    const ends = { x1: 3, y1: middle(item), x2: top.width - 3, y2: middle(target) };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    if (grades[item.dataset.document] > 0) line.classList.add("relevant");
    svg.append(line);
  }
}

/** Return a table of the relevant documents that the rankings show: the rank in each system. */
function relevantOf(part, query, systems) {
  const grades = Object.entries(part.grades[query]).filter(([, grade]) => grade > 0);
  if (!grades.length) return "";
  const known = systems.map((system) => ranksOf(part, query, system));
  const best = (number) => Math.min(...known.map(({ ranks }) => ranks.get(number) ?? Infinity));
  const rows = grades.map(([number, grade]) => [Number(number), grade]);
  rows.sort(([first, grade], [second, other]) => other - grade || best(first) - best(second));
  const cell = ({ ranks, depth }, number) => {
    const rank = ranks.get(number);
    if (rank !== undefined) return make("td", { text: String(rank) });
    return make("td", { text: depth ? `not in the first ${depth}` : "not there", className: "words" });
  };
  const column = (text, className) => {
    const heading = make("th", { text, className });
    heading.scope = "col";
    return heading;
  };
  const body = rows.map(([number, grade]) => {
    const [id, title] = part.documents[number];
    const label = make("th", { text: title ? `${title} (${id})` : id });
    label.scope = "row";
    return make("tr", {}, label, make("td", { text: String(grade) }), ...known.map((ranks) => cell(ranks, number)));
  });
  const head = make("tr", {}, column("relevant document", "words"), column("grade"), ...systems.map((system) => column(part.systems[system])));
  const caption = make("caption", { text: "Ranks of the relevant documents that these rankings show" });
  const table = make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...body));
  const scroll = make("div", { className: "scroll relevant" }, labelled(table));
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Relevant documents");
  return scroll;
}

/** Return a legend of the grades that the rankings show, and of the notes beside them. */
function legendOf(part, query, isPair) {
  const shown = part.rankings[query].flatMap((ranking) => ranking || []);
  const grades = [...new Set(shown.map((number) => part.grades[query][number] ?? null))];
  const known = grades.filter((grade) => grade !== null).sort((a, b) => a - b);
  const marks = (grades.includes(null) ? [...known, null] : known).map((grade) => gradeOf(part, grade));
  const words = ["Grades as in the judgements; unjudged: nobody looked at it for this query."];
  if (isPair) {
    words.push(
      "On the left: → the rank in the other ranking. On the right: ▲ so many ranks higher than on the left, ▼ lower. " +
        "Not in its first n: only the first n of the other ranking were kept, without it.",
    );
  }
  if (!part.has_texts) words.push("Titles and texts show where the report is made with the corpus.");
  return make(
    "ul",
    { className: "legend" },
    ...marks.map(([text, tone]) => make("li", {}, make("span", { text, className: `grade ${tone}` }))),
    ...words.map((text) => make("li", { text })),
  );
}

function titleOf(part, query, system) {
  const ranking = part.rankings[query][system] || [];
  const repeats = part.repeats[system];
  const which = repeats > 1 ? ` (the first of ${repeats} repeats)` : "";
  const depth = ranking.length ? `, the first ${ranking.length}` : "";
  return make("h3", { text: `${part.systems[system]}${which}${depth}` });
}

/** Show the ranking of a query by one system, or the rankings by two side by side. */
function showRankings(part, query, first, second) {
  redrawLines = () => {};
  if (!part.rankings[query]) {
    const why = part.has_rankings
      ? "This query's rankings are not in this file: see the note at its top."
      : "The results that this report was made from hold no rankings.";
    rankings.replaceChildren(make("p", { text: why, className: "empty" }));
    return;
  }
  if (second === null) {
    const only = make("div", {}, titleOf(part, query, first), listOf(part, query, first));
    rankings.replaceChildren(
      relevantOf(part, query, [first]),
      make("div", { className: "pair single" }, only),
      legendOf(part, query, false),
    );
    return;
  }
  const [ours, theirs] = [first, second].map((system) => ranksOf(part, query, system));
  const left = make(
    "div",
    {},
    titleOf(part, query, second),
    listOf(part, query, second, (number) => otherRankOf(ours, number)),
  );
  const right = make(
    "div",
    {},
    titleOf(part, query, first),
    listOf(part, query, first, (number, rank) => moveOf(theirs, number, rank)),
  );
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const moves = make("div", { className: "moves" }, svg);
  rankings.replaceChildren(
    relevantOf(part, query, [second, first]),
    make("div", { className: "pair" }, left, moves, right),
    legendOf(part, query, true),
  );
  redrawLines = () => drawLines(svg, left, right, part.grades[query]);
  redrawLines();
}

new ResizeObserver(() => redrawLines()).observe(rankings);
rankings.addEventListener("toggle", () => redrawLines(), true);

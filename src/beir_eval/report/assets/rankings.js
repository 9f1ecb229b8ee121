// The rankings of one query side by side: grades, what moved, titles and texts.
"use strict";

const rankings = byId("rankings");
let redrawLines = () => {};

/** Return [shown grade, class]; grades above 0 are cut into three tones. */
function gradeOf(part, grade) {
  if (grade === undefined || grade === null) return ["unjudged", "grade-none"];
  if (grade <= 0) return [`grade ${grade}`, "grade-0"];
  const tone = Math.min(3, Math.max(1, Math.ceil((3 * grade) / Math.max(part.max_grade, 1))));
  return [`grade ${grade}`, `grade-${part.max_grade <= 1 ? 3 : tone}`];
}

/** Return where a document stands in the other ranking, as an element. */
function moveOf(rank, otherRank, other) {
  if (otherRank === undefined) {
    return make("span", { text: "only here", className: "move only", title: `not in the top of ${other}` });
  }
  const by = otherRank - rank;
  const title = `rank ${otherRank} in ${other}`;
  if (by === 0) return make("span", { text: "= same", className: "move same", title });
  const [arrow, className] = by > 0 ? ["▲", "move up"] : ["▼", "move down"];
  return make("span", { text: `${arrow} ${Math.abs(by)}`, className, title });
}

function documentOf(part, number) {
  const [id, title, text] = part.documents[number];
  const shown = make("div", { className: "document" });
  if (title) shown.append(make("div", { text: title }));
  shown.append(make("div", { text: id, className: title || text ? "id" : "" }));
  if (text) shown.append(make("details", {}, make("summary", { text: "text" }), make("p", { text })));
  return shown;
}

function listOf(part, query, ranking, other, otherName) {
  if (!ranking) return make("p", { text: "This system has no ranking for the query.", className: "empty" });
  if (!ranking.length) return make("p", { text: "An empty ranking.", className: "empty" });
  const otherRank = new Map((other || []).map((number, place) => [number, place + 1]));
  const list = make("ol", { className: "ranking" });
  ranking.forEach((number, place) => {
    const [grade, tone] = gradeOf(part, part.grades[query][number]);
    const item = make(
      "li",
      {},
      make("span", { text: String(place + 1), className: "rank" }),
      make("span", { text: grade, className: `grade ${tone}` }),
      documentOf(part, number),
    );
    if (other) item.append(moveOf(place + 1, otherRank.get(number), otherName));
    item.dataset.document = number;
    list.append(item);
  });
  return list;
}

const SVG = "http://www.w3.org/2000/svg";

/** Draw a line from each document on the left to the same one on the right. */
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

function legendOf(part) {
  const most = part.max_grade;
  const tones = most <= 4 ? [0, 1, 2, 3, 4].filter((grade) => grade <= most) : [0, 1, most];
  const marks = tones.map((grade) => gradeOf(part, grade)).concat([gradeOf(part, null)]);
  return make(
    "ul",
    { className: "legend" },
    ...marks.map(([text, tone]) => make("li", {}, make("span", { text, className: `grade ${tone}` }))),
    make("li", {
      text:
        "Grades as in the judgements; unjudged: nobody looked at it for this query. " +
        "▲ so many ranks higher here than in the other ranking, ▼ lower.",
    }),
  );
}

/** Show the rankings of a query by one system, or by two side by side. */
function showRankings(part, query, first, second) {
  const held = part.rankings[query];
  redrawLines = () => {};
  if (!held) {
    const why = part.has_rankings
      ? "This query's rankings are not in this file: see the note at its top."
      : "The results that this report was made from hold no rankings.";
    rankings.replaceChildren(make("p", { text: why, className: "empty" }));
    return;
  }
  const name = (system) => part.systems[system];
  const title = (system) => make("h3", { text: `${name(system)}, top ${part.top}` });
  if (second === null) {
    const only = make("div", {}, title(first), listOf(part, query, held[first]));
    rankings.replaceChildren(make("div", { className: "pair single" }, only), legendOf(part));
    return;
  }
  const left = make("div", {}, title(second), listOf(part, query, held[second], held[first] || [], name(first)));
  const right = make("div", {}, title(first), listOf(part, query, held[first], held[second] || [], name(second)));
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const moves = make("div", { className: "moves" }, svg);
  rankings.replaceChildren(make("div", { className: "pair" }, left, moves, right), legendOf(part));
  redrawLines = () => drawLines(svg, left, right, part.grades[query]);
  redrawLines();
}

new ResizeObserver(() => redrawLines()).observe(rankings);
rankings.addEventListener("toggle", () => redrawLines(), true);

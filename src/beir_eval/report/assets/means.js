// The table of means is sorted by a click on a heading: the highest first, then the lowest.
"use strict";

/** Return the number that a cell begins with; cells without one are last in either order. */
const numberIn = (row, column) => parseFloat(row.cells[column].textContent);

function sortBy(table, column, order) {
  const rows = [...table.tBodies[0].rows];
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((first, second) => {
    const [ours, theirs] = [numberIn(first, column), numberIn(second, column)];
    if (Number.isNaN(ours) || Number.isNaN(theirs)) return Number.isNaN(ours) - Number.isNaN(theirs);
    return sign * (ours - theirs);
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.means")) {
  const headings = [...table.tHead.rows[0].cells];
  if (table.tBodies[0].rows.length < 2) continue;
  headings.forEach((heading, column) => {
    if (!column) return;
    const button = make("button", { text: heading.textContent });
    button.type = "button";
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const order = heading.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", order);
      sortBy(table, column, order);
    });
  });
}

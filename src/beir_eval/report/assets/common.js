// Shared by the other scripts: the data of the report, and functions that make elements and texts.
"use strict";

document.documentElement.classList.remove("no-scripts");

const report = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);

/** Return a new element; text from outside is inserted as text, never as HTML. */
function make(tag, { text, className } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Name the cells of a table by its header, for narrow screens that show a card a row. */
function labelled(table) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, index) => { cell.dataset.label = names[index]; });
  }
  return table;
}

const score = (value) => (value === null ? "n/a" : value.toFixed(4));

function signed(value) {
  if (value === null) return "n/a";
  // A difference too small for four decimals is shown in scientific notation, not as 0.
  const text = value !== 0 && Math.abs(value) < 0.00005 ? value.toExponential(1) : value.toFixed(4);
  return value > 0 ? `+${text}` : text;
}

const minus = (ours, theirs) => (ours === null || theirs === null ? null : ours - theirs);

// Unfold the evidence before printing, because paper cannot be clicked; fold it again afterwards.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll(".verdict details:not([open])")];
  for (const details of unfolded) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
});

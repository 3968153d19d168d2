// Adds sorting and a filter to the table of candidates, and opens the row that a link leads to. Without it all is there to read.
"use strict";
(() => {
  const table = document.getElementById("all");
  if (!table) return;
  const rows = [...table.tBodies];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const form = document.getElementById("filter"), words = document.getElementById("words");
  const status = document.getElementById("status"), count = document.getElementById("count");

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = (!status.value || row.classList.contains(status.value)) && wanted.every((word) => text.get(row).includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // Numbers by their size, words by the alphabet; what has no value stays at the end either way.
  function valueOf(row, column) {
    const cell = row.rows[0].cells[column], shown = cell.dataset.v ?? cell.textContent.replace("#", "");
    const number = parseFloat(shown);
    return Number.isNaN(number) ? (/^[–-]?$/.test(shown) ? null : shown) : number;
  }
  function sort(heading, column) {
    const downwards = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", downwards ? "descending" : "ascending");
    const sign = downwards ? -1 : 1;
    const keyed = rows.map((row) => [valueOf(row, column), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    });
    table.append(...keyed.map(([, row]) => row));
  }
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sort(heading, column));
    heading.replaceChildren(button);
  });

  function follow() {
    const row = document.getElementById(location.hash.slice(1));
    if (!row || !rows.includes(row)) return;
    if (row.hidden) {
      form.reset();
      filter();
    }
    row.querySelector("details").open = true;
    row.scrollIntoView();
    row.querySelector("summary").focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);
  follow();
  for (const mark of document.querySelectorAll("[data-to]")) {
    mark.addEventListener("click", () => {
      location.hash = mark.dataset.to;
      follow();
    });
  }

  // On paper nothing can be opened: what stands beside the proof is, for as long as it takes to print.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#accuracy details:not([open]), #speed details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
})();

// What a page does: sorts its tables, saves its figures, changes between light and dark.
"use strict";

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const isNumber = text => text !== "" && !isNaN(text);
    const compare = (a, b) => isNumber(a) && isNumber(b) ? a - b
      : a.localeCompare(b, "en", { numeric: true });
    const empty = row => key(row) === "";
    // What has no value stays below, whichever way the rest goes.
    const rows = [...table.tBodies[0].rows].sort((a, b) => empty(a) - empty(b)
      || (up ? 1 : -1) * compare(key(a), key(b)));
    table.tBodies[0].append(...rows);
  }));
}

function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The figure as it is on paper, its colours written out: other programs know no custom properties.
function svgOf(figure) {
  const svg = figure.querySelector(".paper svg").cloneNode(true);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return svg.outerHTML.replace(/var\(--([\w-]+)\)/g, (_, name) => LOOK.light[name]);
}

const quote = value => /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value ?? "";

// Every trace's points, or every cell, one row each, under the names of the axes.
function csvOf(chart) {
  const marks = kind => chart.panels.flatMap(panel =>
    panel.marks.filter(mark => mark.kind === kind).map(mark => [panel, mark]));
  const labels = new Set(chart.panels.map(panel => panel.y.label));
  const [x, y] = [chart.panels[0].x.label || "x", labels.size === 1 && [...labels][0] || "y"];
  const cells = marks("Cells");
  const rows = cells.length
    ? cells.flatMap(([panel, mark]) => mark.values.flatMap((row, i) =>
        row.map((value, j) => [panel.title, mark.rows[i], mark.columns[j], value])))
    : marks("Trace").flatMap(([panel, mark]) => mark.x.map((at, i) =>
        [panel.title, mark.name, at, mark.y[i], mark.low?.[i], mark.high?.[i], mark.labels[i]]));
  const heads = cells.length ? ["panel", "row", "column", cells[0][1].unit]
    : ["panel", "series", x, y, "low", "high", "point"];
  return [heads, ...rows].map(row => row.map(quote).join(",")).join("\n") + "\n";
}

for (const button of document.querySelectorAll("button[data-save]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const kind = button.dataset.save;
    if (kind === "svg") save(`${figure.dataset.name}.svg`, svgOf(figure), "image/svg+xml");
    else save(`${figure.dataset.name}.csv`, csvOf(chartOf(figure)), "text/csv");
  });
}

document.querySelector("#theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.dispatchEvent(new Event("themechange"));
});

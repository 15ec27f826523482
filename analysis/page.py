"""The style and the script of a report: all that its page needs, inside the page."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --page: #f5f6f8; --ink: #1b1f24; --muted: #5d6673; --rule: #dfe3e8;
  --good: #1d7a3a; --bad: #b3261e; --bad-page: #fdecea;
  --s0: #004488; --s1: #bb5566; --s2: #ddaa33; --s3: #228833;
  --s4: #66ccee; --s5: #882255; --s6: #44aa99; --s7: #aa4499;
  --figure-muted: #6b7280; --grid: #e3e6ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16191e; --page: #0e1013; --ink: #e4e7eb; --muted: #9aa4b1; --rule: #2c323a;
    --good: #5fbf7a; --bad: #ff8a80; --bad-page: #3a1a18;
    --s0: #6ea8e6; --s1: #ea8593; --s2: #ddaa33; --s3: #62bf6e;
    --s4: #66ccee; --s5: #d673ab; --s6: #4fbfac; --s7: #cf80c2;
    --figure-muted: #8b95a3; --grid: #2a3038;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; text-wrap: balance; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: .3rem 0; max-width: 44rem; }
.lead, figcaption, .small { color: var(--muted); }
figcaption, .small { font-size: .87rem; }
code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
nav a { margin-right: 1rem; }
a { color: var(--s0); }
.valid { color: var(--good); font-weight: 600; }
.invalid { color: var(--bad); font-weight: 600; }
.alert { background: var(--bad-page); border-left: 4px solid var(--bad); padding: .6rem .9rem;
  margin: 1rem 0; }
.alert ul { margin: .3rem 0; padding-left: 1.2rem; }
.card { background: var(--paper); border: 1px solid var(--rule); border-radius: 8px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .83rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .42rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th.name, td.name { text-align: left; }
tbody tr:last-child td { border-bottom: 0; }
thead th { vertical-align: bottom; font-weight: 600; }
thead button { all: unset; cursor: pointer; white-space: normal; }
thead button:focus-visible { outline: 2px solid var(--s0); outline-offset: 2px; }
thead small { display: block; color: var(--muted); font-weight: 400; white-space: nowrap; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0 1.5rem;
  margin: 0; padding: .7rem .9rem; }
dl div { display: flex; justify-content: space-between; gap: .8rem; font-size: .87rem;
  padding: .12rem 0; border-bottom: 1px solid var(--rule); }
dt { color: var(--muted); }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--muted); font-size: .87rem; }
figure { margin: 1rem 0; padding: .9rem; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; margin: .4rem auto; }
figure.page svg { min-width: 40rem; }
figure.column svg { max-width: 30rem; }
.definitions li { margin: .25rem 0; max-width: 46rem; }
@media print {
  :root { color-scheme: light;
    --paper: #ffffff; --page: #ffffff; --ink: #1b1f24; --muted: #5d6673; --rule: #cfd4da;
    --good: #1d7a3a; --bad: #b3261e; --bad-page: #ffffff;
    --s0: #004488; --s1: #bb5566; --s2: #ddaa33; --s3: #228833;
    --s4: #66ccee; --s5: #882255; --s6: #44aa99; --s7: #aa4499;
    --figure-muted: #6b7280; --grid: #e3e6ea; }
  @page { margin: 14mm; }
  body { font-size: 9.5pt; }
  main { max-width: none; padding: 0; }
  .card { border: 0; padding: 0; }
  .scroll { overflow: visible; }
  table { font-size: 6.8pt; }
  th, td { padding: .15rem .22rem; }
  figure.page svg { min-width: 0; }
  tr { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
  nav, summary { display: none; }
  details::details-content { content-visibility: visible; }
}
"""

SCRIPT: Final = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (up ? 1 : -1) *
      key(a).localeCompare(key(b), "en", { numeric: true }));
    const number = value => value === "" || isNaN(value) ? null : Number(value);
    if (rows.every(row => number(key(row)) !== null || key(row) === ""))
      rows.sort((a, b) => (up ? 1 : -1) *
        ((number(key(a)) ?? Infinity) - (number(key(b)) ?? Infinity) || 0));
    table.tBodies[0].append(...rows);
  }));
}
"""

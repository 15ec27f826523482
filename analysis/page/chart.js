// Draws a chart (analysis/chart/screen.py) with Plotly: panels in as many columns as fit, the
// page's colours, a legend of buttons that switch a series in every panel.
"use strict";

const LEAST_PANEL_PX = 250;
const TEXT_PX = 12;

// Each figure's chart, unpacked.
const charts = new Map();
const chartOf = figure => charts.get(figure);

// The page's colours by name, as they are now.
function theme() {
  const probe = document.body.appendChild(document.createElement("i"));
  const found = name => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["ink", "muted", "grid", "paper", ...Array.from({ length: 8 }, (_, i) => `s${i}`)];
  const colours = Object.fromEntries(names.map(name => [name, found(name)]));
  probe.remove();
  return colours;
}

const faint = (colour, part) => colour.replace(/^rgba?\(([^,]+,[^,]+,[^,)]+).*$/, `rgba($1, ${part})`);
const pixels = points => points * 4 / 3;
const widthOf = mark => pixels(mark.width) * 1.15;
const dashOf = mark => mark.dashes.length
  ? mark.dashes.map(part => `${part * Math.max(widthOf(mark), 1.2)}px`).join(",") : "solid";

// Marks

function traceOf(mark, panel, axes, colours) {
  const colour = colours[mark.colour];
  const line = { color: colour, width: widthOf(mark), dash: dashOf(mark) };
  const trace = { ...axes, type: "scatter", name: mark.name, x: mark.x, y: mark.y, line,
    opacity: mark.opacity, hovertemplate: hoverOf(mark, panel) };
  if (mark.kind === "Area") {
    const fillpattern = mark.hatch
      ? { shape: mark.hatch, fgcolor: colour, bgcolor: faint(colour, 0.3), size: 6, solidity: 0.25 } : undefined;
    return { ...trace, x: [...mark.x, mark.x[0]], y: [...mark.y, mark.y[0]], mode: "lines",
      fill: "toself", fillcolor: faint(colour, mark.hatch ? 0.4 : 0.13), fillpattern, hoverinfo: "skip",
      hovertemplate: undefined };
  }
  const shape = mark.step ? "hv" : "linear";
  const mode = [mark.line && "lines", mark.marker && "markers"].filter(Boolean).join("+");
  const marker = { symbol: mark.marker || "circle", size: pixels(mark.size),
    color: mark.hollow ? colours.paper : colour, line: { color: colour, width: mark.hollow ? 1.3 : 0 } };
  const bars = mark.low && { type: "data", symmetric: false, color: colour, thickness: 1.1, width: 3,
    array: mark.high.map((high, i) => high - mark.y[i]), arrayminus: mark.y.map((y, i) => y - mark.low[i]) };
  return { ...trace, mode, marker, line: { ...line, shape }, text: mark.labels, error_y: bars,
    cliponaxis: mark.line };
}

// An axis' label is "Queue length (kB)": its words, and its unit.
const wordsOf = axis => axis.label.replace(/ *\([^)]*\).*$/, "");
const unitOf = axis => axis.label.match(/\(([^)]*)\)/)?.[1] ?? "";
const valueOf = (name, axis) => `${wordsOf(axis)} %{${name}:.5~g} ${unitOf(axis)}`.trim();

const hoverOf = (mark, panel) => [mark.name && `<b>${mark.name}</b>`, mark.labels?.length && "%{text}",
  valueOf("x", panel.x), valueOf("y", panel.y)].filter(Boolean).join("<br>") + "<extra></extra>";

function ruleOf(mark, panel, axes, colours) {
  const across = mark.x === null;
  return { ...axes, type: "scatter", mode: "lines", name: mark.name, hoverinfo: "skip", opacity: mark.opacity,
    x: across ? panel.x.ends : [mark.x, mark.x], y: across ? [mark.y, mark.y] : panel.y.ends,
    line: { color: colours[mark.colour], width: widthOf(mark), dash: dashOf(mark) } };
}

function cellsOf(mark, axes, bar, colours) {
  const scale = mark.scale.map((colour, i) => [i / (mark.scale.length - 1), colour]);
  const large = Math.max(mark.rows.length, mark.columns.length) <= 24;
  return { ...axes, type: "heatmap", z: mark.values, zmin: mark.ends[0], zmax: mark.ends[1],
    colorscale: scale, xgap: 1, ygap: 1, showscale: bar,
    colorbar: { title: { text: mark.unit, side: "right", font: { size: TEXT_PX } }, thickness: 10, outlinewidth: 0, len: 0.9,
      tickfont: { color: colours.ink } },
    texttemplate: large ? `%{z:.${mark.digits}f}` : undefined, textfont: { size: 10 },
    customdata: mark.rows.map(row => mark.columns.map(column => `${row} / ${column}`)),
    hovertemplate: "%{customdata}<br>%{z:.4~g}<extra></extra>" };
}

// Layout: everything in pixels, then as parts of the whole, as Plotly wants it.

function place(chart, width) {
  const count = chart.panels.length;
  const names = chart.panels.some(p => p.y.ticks)
    ? Math.max(...chart.panels.flatMap(p => (p.y.ticks ?? []).map(tick => tick[1].length))) : 0;
  const left = Math.max(58, 24 + names * 6.5);
  const scale = chart.panels.some(p => p.marks.some(m => m.kind === "Cells")) ? 70 : 10;
  const columns = Math.max(1, Math.min(chart.columns, count, Math.floor((width - left) / LEAST_PANEL_PX)));
  const rows = Math.ceil(count / columns);
  const ownEnds = axis => new Set(chart.panels.map(p => p[axis].group)).size > Math.ceil(count / columns);
  const gapX = columns > 1 ? (ownEnds("y") ? 54 : 22) : 0;
  const panelWidth = (width - left - scale - gapX * (columns - 1)) / columns;
  const lines = wrapped(chart, panelWidth);
  const head = Math.max(...lines.map(text => text.length)) * 15 + 6;
  const upright = chart.panels.some(p => p.x.ticks) && Math.max(...chart.panels.flatMap(p =>
    (p.x.ticks ?? []).map(tick => tick[1].length * 6.5 * (p.x.ticks?.length ?? 0)))) > panelWidth;
  const foot = upright ? 14 + 6.5 * Math.max(...chart.panels.flatMap(p => p.x.ticks.map(t => t[1].length))) : 24;
  const cells = chart.panels[0].marks.find(mark => mark.kind === "Cells");
  const panelHeight = cells ? Math.max(120, Math.min(panelWidth, 26 * cells.rows.length))
    : columns === 1 ? Math.max(170, Math.min(330, panelWidth * 0.52)) : 165;
  const below = 18 + (chart.note ? 18 : 0);
  const height = rows * (head + panelHeight + foot) + below;
  return { count, left, right: scale, columns, rows, gapX, panelWidth, panelHeight, head, foot, height, width,
    lines, upright, below };
}

function wrapped(chart, panelWidth) {
  return chart.panels.map((panel, i) => {
    const letter = chart.panels.length > 1 ? `(${letters(i)}) ` : "";
    const room = Math.max(12, Math.floor((panelWidth - panel.note.length * 6.4) / 6.4));
    const lines = [""];
    for (const word of (letter + panel.title).trim().split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length + 1 > room) lines.push(word);
      else lines.push([lines.pop(), word].filter(Boolean).join(" "));
    }
    return lines;
  });
}

const letters = i => (i < 26 ? "" : String.fromCharCode(96 + Math.floor(i / 26))) + String.fromCharCode(97 + i % 26);

function axisOf(said, domain, anchor, id, colours, more) {
  const scaled = end => said.log ? Math.log10(end) : end;
  const range = said.ends.map(scaled);
  const ticks = said.ticks
    ? { tickmode: "array", tickvals: said.ticks.map(t => t[0]), ticktext: said.ticks.map(t => t[1]) } : {};
  const whole = said.whole && said.ends[1] - said.ends[0] < 8 ? { dtick: 1, tick0: 0 } : {};
  const first = `${id[0]}${said.group ? said.group + 1 : ""}`;
  const isX = id[0] === "x"; // a zoom moves the x axes of a group together, y axes never
  return { domain, anchor, range: said.reverse ? range.reverse() : range, type: said.log ? "log" : "linear",
    matches: isX && first !== id ? first : undefined,
    fixedrange: !isX && said.shared, gridcolor: colours.grid, linecolor: colours.ink, linewidth: 1,
    zeroline: false, ticks: "outside", ticklen: 3, tickcolor: colours.ink, automargin: false,
    dtick: said.log && range[1] - range[0] > 1.2 ? 1 : undefined, nticks: 6, minor: undefined,
    ...ticks, ...whole, ...more };
}

function layoutOf(chart, at, colours) {
  const inner = at.width - at.left - at.right;
  const outer = at.height - at.below;
  const layout = { width: at.width, height: at.height, showlegend: false, hovermode: "closest",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { size: TEXT_PX, color: colours.ink },
    margin: { l: at.left, r: at.right, t: 0, b: at.below, pad: 0 }, annotations: [],
    hoverlabel: { bgcolor: colours.paper, bordercolor: colours.muted, font: { color: colours.ink, size: TEXT_PX } },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom" };
  chart.panels.forEach((panel, i) => {
    const [row, column] = [Math.floor(i / at.columns), i % at.columns];
    const x0 = column * (at.panelWidth + at.gapX);
    const top = row * (at.head + at.panelHeight + at.foot) + at.head;
    const xDomain = [x0 / inner, (x0 + at.panelWidth) / inner].map(part => Math.min(part, 1));
    const yDomain = [1 - (top + at.panelHeight) / outer, 1 - top / outer].map(part => Math.max(part, 0));
    const n = i ? i + 1 : "";
    const isLast = i + at.columns >= at.count;
    const sameAsLeft = column && panel.y.group === chart.panels[i - 1].y.group;
    layout[`xaxis${n}`] = axisOf(panel.x, xDomain, `y${n}`, `x${n}`, colours, { tickangle: at.upright ? -90 : 0,
      title: { text: isLast ? panel.x.label : "", standoff: 4, font: { size: TEXT_PX } } });
    layout[`yaxis${n}`] = axisOf(panel.y, yDomain, `x${n}`, `y${n}`, colours, { showticklabels: !sameAsLeft,
      title: { text: column && panel.y.label === chart.panels[i - 1].y.label ? "" : panel.y.label, standoff: 6,
        font: { size: TEXT_PX } } });
    const text = { xref: "paper", yref: "paper", showarrow: false, yanchor: "bottom", y: yDomain[1] };
    layout.annotations.push({ ...text, x: xDomain[0], xanchor: "left", align: "left", text: at.lines[i].join("<br>") });
    if (panel.note)
      layout.annotations.push({ ...text, x: xDomain[1], xanchor: "right", text: panel.note,
        font: { color: colours[panel.noteColour] } });
  });
  if (chart.note)
    layout.annotations.push({ xref: "paper", yref: "paper", showarrow: false, x: 1, xanchor: "right", y: 0,
      yanchor: "top", yshift: -18, text: chart.note, font: { size: 10, color: colours.muted } });
  return layout;
}

// Legend

function swatch(entry, colours) {
  const colour = colours[entry.colour];
  const dashes = entry.dashes.map(part => part * 1.8).join(" ");
  const line = entry.line ? `<path d="M1 6H27" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>` : "";
  const marks = { square: "M10.5 2.5h7v7h-7z", "triangle-up": "M14 2l4.5 8h-9z", diamond: "M14 1l5 5-5 5-5-5z",
    "triangle-down": "M14 10l4.5-8h-9z", "triangle-left": "M10 6l8-4.5v9z", "triangle-right": "M18 6l-8-4.5v9z",
    cross: "M12.5 2h3v2.5H18v3h-2.5V10h-3V7.5H10v-3h2.5z", star: "M14 1l1.5 3.5 4 .3-3 2.5 1 3.9L14 9l-3.5 2.2 1-3.9-3-2.5 4-.3z",
    x: "M11 2l3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3-3-3z", circle: "M17.5 6a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0" };
  const fill = entry.hollow ? `fill="${colours.paper}" stroke="${colour}"` : `fill="${colour}"`;
  const marker = entry.marker ? `<path d="${marks[entry.marker]}" ${fill}/>` : "";
  const box = entry.kind === "Area"
    ? `<rect x="3" y="1" width="22" height="10" fill="${faint(colour, 0.4)}" stroke="${colour}"/>${hatch(entry, colour)}` : line + marker;
  return `<svg width="28" height="12" aria-hidden="true" fill="none">${box}</svg>`;
}

function hatch(entry, colour) {
  const lines = { "/": "M6 11l6-10M12 11l6-10M18 11l6-10", "\\": "M6 1l6 10M12 1l6 10M18 1l6 10",
    x: "M6 11l6-10M12 11l6-10M18 11l6-10M6 1l6 10M12 1l6 10M18 1l6 10", "-": "M3 4.5H25M3 7.5H25",
    "|": "M8 1v10M14 1v10M20 1v10", "+": "M3 6H25M8 1v10M14 1v10M20 1v10" };
  if (entry.hatch === ".")
    return [7, 12, 17, 22].map(x => `<circle cx="${x}" cy="6" r="1.2" fill="${colour}"/>`).join("");
  return lines[entry.hatch] ? `<path d="${lines[entry.hatch]}" stroke="${colour}"/>` : "";
}

function fillLegend(figure, chart, plot, hidden, colours) {
  const legend = figure.querySelector(".legend");
  legend.replaceChildren(...chart.legend.map(entry => {
    const button = document.createElement("button");
    button.innerHTML = swatch(entry, colours);
    button.append(entry.name);
    button.setAttribute("aria-pressed", String(!hidden.has(entry.name)));
    button.addEventListener("click", () => {
      if (!hidden.delete(entry.name)) hidden.add(entry.name);
      button.setAttribute("aria-pressed", String(!hidden.has(entry.name)));
      const own = plot.data.flatMap((trace, i) => trace.name === entry.name ? [i] : []);
      Plotly.restyle(plot, { visible: !hidden.has(entry.name) }, own);
    });
    return button;
  }));
}

// One figure

function draw(figure) {
  const chart = chartOf(figure);
  const plot = figure.querySelector(".screen");
  const hidden = new Set();
  let width = 0;
  const paint = () => {
    const colours = theme();
    const at = place(chart, width);
    let bar = true;
    const traces = chart.panels.flatMap((panel, i) => panel.marks.map(mark => {
      const axes = { xaxis: `x${i ? i + 1 : ""}`, yaxis: `y${i ? i + 1 : ""}` };
      if (mark.kind === "Cells") {
        const cells = cellsOf(mark, axes, bar, colours);
        bar = false;
        return cells;
      }
      const trace = mark.kind === "Rule" ? ruleOf(mark, panel, axes, colours) : traceOf(mark, panel, axes, colours);
      return { ...trace, visible: !hidden.has(mark.name) };
    }));
    figure.classList.add("drawn");
    Plotly.react(plot, traces, layoutOf(chart, at, colours), { displayModeBar: false });
    fillLegend(figure, chart, plot, hidden, colours);
  };
  new ResizeObserver(() => {
    const now = Math.floor(plot.parentElement.clientWidth
      - 2 * parseFloat(getComputedStyle(plot.parentElement).paddingLeft));
    if (now > 0 && now !== width && !matchMedia("print").matches) {
      width = now;
      paint();
    }
  }).observe(figure);
  figure.querySelector("[data-do=whole]").addEventListener("click", paint);
  document.addEventListener("themechange", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}

// What the page holds packed: base 85 of gzip (analysis/page/pack.py).
async function unpacked(element) {
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  const value = new Uint8Array(128);
  [...letters].forEach((letter, i) => { value[letter.charCodeAt(0)] = i; });
  const text = element.textContent;
  const bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
  for (let at = 0, to = 0; at < text.length; at += 5, to += 4) {
    let word = 0;
    for (let i = 0; i < 5; i++) word = word * 85 + (at + i < text.length ? value[text.charCodeAt(at + i)] : 84);
    for (let i = 3; i >= 0; i--, word = Math.floor(word / 256)) bytes[to + i] = word % 256;
  }
  const padding = (5 - text.length % 5) % 5;
  const stream = new Blob([bytes.subarray(0, bytes.length - padding)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
}

async function unpack() {
  const figures = [...document.querySelectorAll("figure")];
  await Promise.all(figures.map(async figure =>
    charts.set(figure, JSON.parse(await unpacked(figure.querySelector("script.chart"))))));
  const script = document.createElement("script");
  script.textContent = await unpacked(document.getElementById("plotly"));
  document.head.append(script);
  return figures;
}

// A figure is drawn when it comes near the window.
const near = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting).forEach(entry => {
  near.unobserve(entry.target);
  draw(entry.target);
}), { rootMargin: "800px" });
unpack().then(figures => figures.forEach(figure => near.observe(figure)));

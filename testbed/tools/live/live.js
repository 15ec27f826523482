// The charts of the live view, and its sliders. Times are seconds, lengths bytes.
"use strict";

const SHOWN_S = 30;
const SPAN = 16;  // a slider reaches from 1/16 to 16 times the first value
const byId = id => document.getElementById(id);
const history = { time: [], ports: new Map(), windows: new Map() };
const KINDS = {
  packets: { unit: "packets", scale: 1, waits: port => port.waiting_packets },
  bytes: { unit: "kB", scale: 1e3, waits: port => port.waiting_bytes / 1e3 },
  time_ps: { unit: "ms", scale: 1e9, waits: port => port.waiting_bytes * 8e3 / port.rate_bps },
};
let kind = "packets";  // of the shown port's queue limit
const sliders = {
  rate: { text: bps => `${(bps / 1e6).toPrecision(3)} Mb/s`, setting: bps => ({ rate_bps: bps }) },
  queue: {
    text: limit => `${Number((limit / KINDS[kind].scale).toPrecision(3))} ${KINDS[kind].unit}`,
    setting: limit => ({ queue_limit: { [kind]: limit } }),
  },
};
let last = null;
let shown = null;
let waiting = false;

function say(text, isError = false) {
  byId("state").textContent = text;
  byId("state").className = isError ? "error" : "";
}

// A port's series; rates are differences between two snapshots.
function series(port) {
  if (!history.ports.has(port.number)) {
    const empty = { time: [], queue: [], limit: [], sent: [], rate: [], drops: [], marks: [] };
    history.ports.set(port.number, empty);
    byId("port").add(new Option(port.name, port.number));
  }
  return history.ports.get(port.number);
}

function trim(lists, since) {
  const times = lists.time;
  let old = 0;
  while (old < times.length && times[old] < since) old += 1;
  for (const list of Object.values(lists)) list.splice(0, old);
}

function take(snapshot) {
  const passed = last ? snapshot.time_s - last.time_s : 0;
  for (const port of snapshot.ports) {
    const own = series(port);
    const before = last && last.ports.find(one => one.number === port.number);
    if (before && passed > 0) {
      own.time.push(snapshot.time_s);
      const [[ownKind, limit]] = Object.entries(port.queue_limit);
      own.queue.push(KINDS[ownKind].waits(port));
      own.limit.push(limit / KINDS[ownKind].scale);
      own.sent.push((port.transmitted_bytes - before.transmitted_bytes) * 8 / passed / 1e6);
      own.rate.push(port.rate_bps === null ? null : port.rate_bps / 1e6);
      own.drops.push((port.dropped - before.dropped) / passed);
      own.marks.push((port.marked - before.marked) / passed);
    }
    trim(own, snapshot.time_s - SHOWN_S);
  }
  for (const [name, bytes] of Object.entries(snapshot.windows_bytes)) {
    if (!history.windows.has(name)) history.windows.set(name, { time: [], window: [] });
    const own = history.windows.get(name);
    own.time.push(snapshot.time_s);
    own.window.push(bytes / 1e3);
    trim(own, snapshot.time_s - SHOWN_S);
  }
  last = snapshot;
  choose();
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(draw);
  }
}

// Without a choice the port with the lowest rate is shown: the bottleneck.
function choose() {
  const limited = last.ports.filter(port => port.rate_bps !== null);
  const first = limited.sort((a, b) => a.rate_bps - b.rate_bps)[0] ?? last.ports[0];
  const number = shown ?? first.number;
  if (shown === null) setShown(number);
  const port = last.ports.find(one => one.number === Number(byId("port").value));
  if (!port) return;
  follow("rate", port.rate_bps);
  let limit;
  [[kind, limit]] = Object.entries(port.queue_limit);
  byId("queue-unit").textContent = KINDS[kind].unit;
  follow("queue", limit);
}

function setShown(number) {
  shown = number;
  byId("port").value = number;
  for (const slider of Object.values(sliders)) slider.first = 0;
}

// A slider shows the value in force, unless it is being moved.
function follow(name, value) {
  const slider = sliders[name], input = byId(name);
  input.disabled = value === null;
  if (value === null) {
    byId(`${name}-text`).textContent = "none";
    return;
  }
  if (!slider.first) slider.first = value;
  if (slider.moving) return;
  input.value = 500 + 500 * Math.log(value / slider.first) / Math.log(SPAN);
  byId(`${name}-text`).textContent = slider.text(value);
}

function valueOf(name) {
  const power = (Number(byId(name).value) - 500) / 500;
  return Math.max(1, Math.round(sliders[name].first * SPAN ** power));
}

async function send(name) {
  const content = { port: Number(byId("port").value), ...sliders[name].setting(valueOf(name)) };
  const headers = { "content-type": "application/json", "x-narrows": "1" };
  try {
    const answer = await fetch("/change", { method: "POST", headers, body: JSON.stringify(content) });
    const said = await answer.json();
    say(answer.ok ? "changed" : said.error, !answer.ok);
  } catch (error) {
    say(`the switch has ended (${error.message})`, true);
  }
  sliders[name].moving = false;
}

function draw() {
  waiting = false;
  const own = history.ports.get(Number(byId("port").value));
  if (!own) return;
  const ink = getComputedStyle(document.body).color;
  const start = Math.max(0, last.time_s - SHOWN_S);
  const layout = {
    datarevision: last.time_s,  // the series are the same arrays, longer
    margin: { l: 50, r: 10, t: 5, b: 45 }, paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)", font: { size: 15, color: ink }, showlegend: true,
    legend: { orientation: "h", x: 0, y: 1.12 },
    xaxis: { range: [start, start + SHOWN_S], gridcolor: "#8884", title: { text: "Time (s)" } },
    yaxis: { rangemode: "tozero", gridcolor: "#8884" },
  };
  const line = (name, y, extra = {}) =>
    ({ x: own.time, y, name, mode: "lines", line: { width: 2.5, ...extra } });
  const dashed = { dash: "dash", shape: "hv" };
  const quiet = { displayModeBar: false, responsive: true };
  Plotly.react("queue-chart", [line("queue", own.queue), line("limit", own.limit, dashed)],
    layout, quiet);
  Plotly.react("rate-chart", [line("sent", own.sent), line("rate", own.rate, dashed)],
    layout, quiet);
  Plotly.react("drops-chart", [line("drops", own.drops), line("marks", own.marks)], layout, quiet);
  byId("windows").hidden = history.windows.size === 0;
  if (history.windows.size > 0) {
    const windows = [...history.windows].map(([name, flow]) =>
      ({ x: flow.time, y: flow.window, name, mode: "lines", line: { width: 2.5 } }));
    Plotly.react("windows-chart", windows, layout, quiet);
  }
}

for (const name of Object.keys(sliders)) {
  byId(name).addEventListener("input", () => {
    sliders[name].moving = true;
    byId(`${name}-text`).textContent = sliders[name].text(valueOf(name));
  });
  byId(name).addEventListener("change", () => send(name));
}
byId("port").addEventListener("change", () => setShown(Number(byId("port").value)));
const events = new EventSource("/events");
events.onopen = () => say("live");
events.onmessage = message => take(JSON.parse(message.data));
events.onerror = () => say("the run has ended", true);

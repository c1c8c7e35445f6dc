// Plots over time, by uPlot. All show the same span: drag to look closer, double-click for all.
const plotsBox = byId("plots");
const plots = {all: [], from: 0, to: 1, syncing: false, made: false, curves: new Map()};
const saidOfGroups = {"Switch queues": "frames that wait in a switch, or are on the line out of it"};
const lineColors = ["--k2", "--k5", "--k3", "--k0", "--k1", "--k4", "--k6", "--k7"];
const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const buckets = 240, mostPoints = 4000, mostCurves = 8;

const inSpan = (i) => frames.at[i] >= plots.from && frames.at[i] <= plots.to;

/// Bytes per second that each lane sent, in equal parts of the span.
function throughput() {
  const {chosen: senders, hidden} = chosenCurves("throughput", () => {
    const all = new Set(frames.from);
    return ports.order.filter((lane) => all.has(lane) && !frames.lane[lane].service && isPortShown(lane));
  });
  const span = Math.max(1, plots.to - plots.from), width = span / buckets;
  const sums = senders.map(() => new Float64Array(buckets)), at = new Map(senders.map((lane, k) => [lane, k]));
  for (let i = 0; i < frames.count; ++i) {
    if (!inSpan(i) || !at.has(frames.from[i])) continue;
    sums[at.get(frames.from[i])][Math.min(buckets - 1, Math.floor((frames.at[i] - plots.from) / width))] += frames.size[i];
  }
  const x = Float64Array.from({length: buckets}, (_, k) => (plots.from + (k + 0.5) * width) / 1e9);
  return {hidden, names: senders.map((lane) => frames.lane[lane].title), data: [x, ...sums.map((sum) => sum.map((bytes) => bytes / width * 1e9))]};
}

/// Points (time, nanoseconds); of too many the longest of each part of the span.
function thinned(points) {
  if (points.length <= mostPoints) return points;
  const longest = new Map(), width = (plots.to - plots.from) / mostPoints;
  for (const point of points) {
    const part = Math.floor((point[0] - plots.from) / width);
    if (!longest.has(part) || longest.get(part)[1] < point[1]) longest.set(part, point);
  }
  return [...longest.values()].sort((a, b) => a[0] - b[0]);
}
/// Several lists of points as one table, with gaps.
function table(lists) {
  const times = [...new Set(lists.flatMap((points) => points.map((point) => point[0])))].sort((a, b) => a - b);
  const at = new Map(times.map((time, k) => [time, k]));
  const columns = lists.map((points) => {
    const column = new Array(times.length).fill(null);
    for (const [time, value] of points) column[at.get(time)] = value;
    return column;
  });
  return [times.map((time) => time / 1e9), ...columns];
}
/// Of too many curves those with most points. Which, does not depend on the span: it is found once for the ports that
/// are shown.
function chosenCurves(id, all) {
  if (!plots.curves.has(id)) plots.curves.set(id, all());
  const curves = plots.curves.get(id);
  return {chosen: curves.slice(0, mostCurves), hidden: Math.max(0, curves.length - mostCurves)};
}
/// Points by what `nameOf` says of a frame; `valueOf`: nanoseconds, below 0: none.
function pointsOf(id, nameOf, valueOf) {
  const {chosen: names, hidden} = chosenCurves(id, () => {
    const tally = new Map();
    for (let i = 0; i < frames.count; ++i) if (valueOf(i) >= 0 && hasLane(i)) tally.set(nameOf(i), (tally.get(nameOf(i)) || 0) + 1);
    return [...tally].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  });
  const lists = new Map(names.map((name) => [name, []]));
  for (let i = 0; i < frames.count; ++i)
    if (valueOf(i) >= 0 && inSpan(i) && hasLane(i) && lists.has(nameOf(i))) lists.get(nameOf(i)).push([frames.at[i], valueOf(i) / 1e9]);
  return {hidden, names, data: table([...lists.values()].map(thinned))};
}
const flightTimes = () => pointsOf("flight", (i) => `${frames.lane[frames.from[i]].title} → ${frames.lane[frames.to[i]].title}`, (i) => frames.took[i]);
const answerTimes = () => pointsOf("answers", nameFrame, (i) => frames.answer_time[i]);
/// The lane of the port that was measured, or that a queue leads to; -1: none.
function laneOfSeries({name}) {
  const to = name.lastIndexOf(" to "), place = places[placeNamed.get(to < 0 ? name : name.slice(to + 4))];
  return place ? place.lane : -1;
}
/// What the run measured, of the ports that are shown, the most talkative first: each value holds until the next.
function measured(group) {
  const {chosen: series, hidden} = chosenCurves(group, () => {
    const rank = (one) => { const at = ports.order.indexOf(laneOfSeries(one)); return at < 0 ? ports.order.length : at; };
    return measuredSeries().filter((one) => one.group === group && (laneOfSeries(one) < 0 || isPortShown(laneOfSeries(one)))).sort((a, b) => rank(a) - rank(b));
  });
  const data = table(series.map((one) => thinned(pointsInSpan(one))));
  for (const column of data.slice(1)) for (let k = 1; k < column.length; ++k) if (column[k] === null) column[k] = column[k - 1];
  return {hidden, names: series.map((one) => one.name), data};
}
/// With the value that holds at each end of the span.
function pointsInSpan({at, value}) {
  const points = [];
  let before = -1;
  for (let k = 0; k < at.length; ++k) {
    if (at[k] < plots.from) before = k;
    else if (at[k] <= plots.to) points.push([at[k], value[k]]);
  }
  if (before >= 0) points.unshift([plots.from, value[before]]);
  if (points.length) points.push([plots.to, points[points.length - 1][1]]);
  return points;
}

const engineering = (unit) => (value) => {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const steps = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const [size, prefix] = steps.find(([least]) => Math.abs(value) >= least) || steps[steps.length - 1];
  return `${Number((value / size).toPrecision(4))} ${prefix}${unit}`;
};
const numberText = (value) => (value === null || value === undefined ? "–" : count(value));

const kindsOfPlots = () => [
  {id: "throughput", title: "Throughput", said: "bytes of frames that each port sent, a second", make: throughput, format: engineering("B/s"), filled: true},
  {id: "answers", title: "Latency", said: "from a request to its response", make: answerTimes, format: engineering("s"), points: true},
  {id: "flight", title: "On the way", said: "from where a frame was sent to where it arrived", make: flightTimes, format: engineering("s"), points: true},
  ...[...new Set(measuredSeries().map((one) => one.group))].map((group) => ({id: `measured-${group.replace(/\W/g, "-")}`, title: group, said: saidOfGroups[group] || "", make: () => measured(group),
    format: (measuredSeries().find((one) => one.group === group).unit === "B" ? engineering("B") : numberText), stepped: true})),
];

function optionsOf(kind, names, width) {
  const ink = () => colorOf("--dim"), grid = () => colorOf("--line");
  const path = kind.stepped ? uPlot.paths.stepped({align: 1}) : undefined;
  const axis = {stroke: ink, grid: {stroke: grid, width: 1}, ticks: {stroke: grid, width: 1}, font: "11px system-ui, sans-serif"};
  return {
    width, height: 190, cursor: {sync: {key: "time"}, drag: {x: true, y: false}},
    scales: {x: {time: false}},
    axes: [{...axis, values: (_, ticks) => ticks.map((tick) => engineering("s")(tick)), space: 70}, {...axis, size: 68, values: (_, ticks) => ticks.map(kind.format)}],
    series: [{label: "time", value: (_, value) => engineering("s")(value)}, ...names.map((name, k) => ({
      label: name, stroke: () => colorOf(lineColors[k % lineColors.length]), width: kind.points ? 0 : 1.5, paths: kind.points ? () => null : path,
      fill: kind.filled ? () => colorOf(lineColors[k % lineColors.length]) + "22" : undefined,
      points: {show: kind.points === true, size: 5, fill: () => colorOf(lineColors[k % lineColors.length])}, value: (_, value) => kind.format(value),
    }))],
    hooks: {setScale: [(plot, scale) => { if (scale === "x" && !plots.syncing) zoomPlots(plot.scales.x.min * 1e9, plot.scales.x.max * 1e9); }],
      ready: [(plot) => plot.over.addEventListener("dblclick", () => zoomPlots(plots.first, plots.last))]},
  };
}

/// For those who do not see the curves.
function inWords(kind, names, data) {
  return names.map((name, k) => {
    const values = data[k + 1].filter((value) => value !== null);
    let least = Infinity, most = -Infinity;
    for (const value of values) { least = Math.min(least, value); most = Math.max(most, value); }
    return values.length ? `${name}: ${kind.format(least)} to ${kind.format(most)}` : `${name}: nothing`;
  }).join("; ");
}

function spanWords() {
  const all = plots.from <= plots.first && plots.to >= plots.last;
  return `${duration(plots.from)} to ${duration(plots.to)}${all ? "" : `, of ${duration(plots.first)} to ${duration(plots.last)}`}`;
}

const isEmpty = (data) => data.slice(1).every((column) => column.every((value) => value === null));
function zoomPlots(from, to) {
  if (!(to > from) || (from === plots.from && to === plots.to)) return;
  Object.assign(plots, {from, to, syncing: true});
  for (const {plot, kind, place} of plots.all) {
    const {data} = kind.make();
    if (data.length === plot.series.length && data[0].length) plot.setData(data, false);
    place.classList.toggle("empty", isEmpty(data));
    plot.batch(() => { plot.setScale("x", {min: from / 1e9, max: to / 1e9}); });
    plot.setScale("y", {min: null, max: null});
  }
  setTimeout(() => { plots.syncing = false; });
  byId("plots-span").textContent = spanWords();
}

/// Closer by a factor below 1, around the middle; `by`: earlier or later, in spans.
function moveSpan(factor, by = 0) {
  const span = plots.to - plots.from, wide = Math.min(plots.last - plots.first, Math.max(10, span * factor));
  const middle = plots.from + span * (0.5 + by);
  const from = Math.max(plots.first, Math.min(plots.last - wide, middle - wide / 2));
  zoomPlots(from, from + wide);
}
const spanMoves = {
  closer: () => moveSpan(0.5), wider: () => moveSpan(2), earlier: () => moveSpan(1, -0.5), later: () => moveSpan(1, 0.5),
  busy: () => zoomPlots(...busySpan()), whole: () => zoomPlots(plots.first, plots.last),
};
const spanKeys = {__proto__: null, "+": "closer", "=": "closer", "-": "wider", ArrowLeft: "earlier", ArrowRight: "later", Home: "whole", End: "busy"};

/// What there is no curve for: values that the run measured and that never changed.
function constantsHtml() {
  const groups = new Map();
  for (const one of head.constant || []) {
    const words = `${one.name}: ${one.unit === "B" ? bytesText(one.value) : count(one.value)}`;
    groups.set(one.group, [...(groups.get(one.group) || []), words]);
  }
  const rows = [...groups].map(([group, words]) => `<tr><td>${html(group)}</td><td>${html(words.join(", "))}</td></tr>`).join("");
  const lines = [];
  if (head.ports && head.measured < head.ports) lines.push(`Measured at the first ${count(head.measured)} of ${count(head.ports)} ports.`);
  if (head.queues_left_out) lines.push(`${count(head.queues_left_out)} more queues of switches were not measured.`);
  if (head.values_left_out) lines.push(`The page has the first 2 000 000 values that were measured; ${count(head.values_left_out)} later ones are left out.`);
  const some = lines.map((line) => `<p class="dim">${line}</p>`).join("");
  if (!rows && !some) return "";
  return `<div class="panel" id="constant"><h2>Without a curve <span class="dim">never changed in this run</span></h2>${rows ? `<table><tbody>${rows}</tbody></table>` : ""}${some}</div>`;
}

function makePlots() {
  plots.first = frames.count ? frames.at[0] : 0;
  plots.last = frames.count ? frames.at[frames.count - 1] : 1;
  for (const one of measuredSeries()) if (one.at.length) plots.last = Math.max(plots.last, one.at[one.at.length - 1]);
  Object.assign(plots, {from: plots.first, to: Math.max(plots.last, plots.first + 1), made: true, all: [], syncing: true});
  const move = (name, sign, key, words) => `<button class="tool" data-move="${name}" title="${words} (${key})" aria-label="${words}">${sign}</button>`;
  plotsBox.innerHTML = `<div class="span-bar"><span class="group">${move("closer", "+", "+", "Closer")}${move("wider", "−", "-", "Wider")}${move("earlier", "←", "←", "Earlier")}${move("later", "→", "→", "Later")}` +
    `<button class="tool" data-move="busy" title="Where most frames are (End)">Most frames</button><button class="tool" data-move="whole" title="All (Home)">All</button></span>` +
    `<span class="dim" role="status"><span id="plots-span">${spanWords()}</span></span><details class="picker" id="plot-ports" hidden></details><span class="dim">Drag over a plot to look closer, double-click for all.</span></div><div class="panels" id="plots-all"></div>${constantsHtml()}`;
  makePicker(byId("plot-ports"));
  drawPlots();
  const [low, high] = frames.count ? busySpan() : [0, 0];
  if (plots.all.length && high - low < (plots.last - plots.first) / 3) zoomPlots(low, high);
}
/// The curves of the ports that are shown, over the span that is shown.
function drawPlots() {
  for (const {plot} of plots.all) plot.destroy();
  Object.assign(plots, {all: [], syncing: true});
  plots.curves.clear();
  byId("plots-all").innerHTML = "";
  for (const kind of kindsOfPlots()) {
    const {names, data, hidden} = kind.make();
    if (!names.length || !data[0].length) continue;
    const panel = document.createElement("div");
    panel.className = "panel plot";
    panel.innerHTML = `<h2><span class="title">${html(kind.title)}</span> <span class="dim">${html(kind.said)}${hidden ? `${kind.said ? "; " : ""}${count(hidden)} more curves: choose their ports` : ""}</span></h2><div role="img" id="plot-${kind.id}"></div>`;
    byId("plots-all").append(panel);
    const place = byId(`plot-${kind.id}`);
    place.setAttribute("aria-label", `${kind.title}. ${inWords(kind, names, data)}`);
    const plot = new uPlot(optionsOf(kind, names, Math.max(260, place.clientWidth)), data, place);
    plot.setScale("x", {min: plots.from / 1e9, max: plots.to / 1e9});
    plots.all.push({plot, kind, place});
  }
  setTimeout(() => { plots.syncing = false; });
  if (!plots.all.length) byId("plots-all").innerHTML = `<div class="panel"><h2>Plots</h2><p class="dim">Nothing to plot${arePortsHidden() ? " of the ports that are shown" : ""}.</p></div>`;
}
ports.changed.push(() => { if (plots.made) drawPlots(); });
/// The shortest span with a third of all frames, and what is before and behind it up to pauses as long as all that: of
/// set-ups and time-outs the first set-up.
function busySpan() {
  const at = Float64Array.from(frames.at).sort(), third = Math.ceil(at.length / 3), leastWidth = 1000;
  let low = 0;
  for (let k = 0; k + third <= at.length; ++k) if (at[k + third - 1] - at[k] < at[low + third - 1] - at[low]) low = k;
  let high = low + third - 1;
  for (;;) {
    const width = Math.max(leastWidth, at[high] - at[low]);
    if (low > 0 && at[low] - at[low - 1] < width) --low;
    else if (high + 1 < at.length && at[high + 1] - at[high] < width) ++high;
    else break;
  }
  const margin = Math.max(leastWidth, at[high] - at[low]) * 0.05;
  return [Math.max(plots.first, at[low] - margin), Math.min(plots.last, at[high] + margin)];
}
plotsBox.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (button) spanMoves[button.dataset.move]();
});
plotsBox.addEventListener("keydown", (event) => {
  const move = !event.ctrlKey && !event.metaKey && !event.altKey && plots.all.length && spanKeys[event.key];
  if (!move) return;
  spanMoves[move]();
  event.preventDefault();
});
new ResizeObserver(() => {
  for (const {plot, place} of plots.all) if (place.clientWidth > 100 && place.clientWidth !== plot.width) plot.setSize({width: place.clientWidth, height: 190});
}).observe(plotsBox);

// What the endpoints went through: a band of states for each, and the rows of the tables that fired.
const stateBox = byId("states");
const rowsShownAtOnce = 300;
const timeline = {toScale: false, shownRows: rowsShownAtOnce, machine: "", place: "", once: false};

const fitting = (text, room) => (text.length <= room ? text : text.slice(0, Math.max(1, Math.floor(room) - 1)) + "…");
function bandsHtml(width) {
  const endpoints = [...new Set(states.map((change) => change.connection + "\u0000" + change.port))];
  const left = isNarrow() ? 96 : 190, right = 12, height = 30, top = 8;
  const times = [...new Set(states.map((change) => change.at))].sort((a, b) => a - b);
  const first = times[0], last = Math.max(times[times.length - 1], frames.count ? frames.at[frames.count - 1] : 0);
  const room = width - left - right, order = new Map(times.map((at, k) => [at, k]));
  const xOf = (at) => left + room * (timeline.toScale ? (at - first) / Math.max(1, last - first) : order.get(at) / times.length);
  let out = "";
  endpoints.slice(0, 200).forEach((name, k) => {
    const [connection, port] = name.split("\u0000"), own = states.filter((change) => change.connection === connection && change.port === port);
    const y = top + k * height;
    out += `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${html(fitting(port, left / 6.8))}<title>${html(port)}</title></text><text class="dim-text" x="${left - 8}" y="${y + 24}" text-anchor="end" font-size="9">${html(fitting(connection, left / 5.8))}<title>${html(connection)}</title></text>`;
    own.forEach((change, n) => {
      const x = xOf(change.at), end = n + 1 < own.length ? xOf(own[n + 1].at) : left + room, wide = Math.max(1.5, end - x - 1);
      const label = `${port}, ${connection}: ${stateWords(change.to)} from ${clock(change.at).join(" ")} s`;
      out += `<g class="seg ${stateClass(change.to)}" data-change="${change.index}" tabindex="0" role="button" aria-label="${html(label)}"><title>${html(label)}</title>` +
        `<rect x="${x}" y="${y + 4}" width="${wide}" height="20" rx="3" fill="var(--s)" opacity=".8"/>`;
      if (wide > 7 * change.to.length + 6) out += `<text x="${x + 5}" y="${y + 18}" style="fill:#fff;font-weight:600">${html(stateWords(change.to))}</text>`;
      out += `</g>`;
    });
  });
  const bottom = top + Math.min(200, endpoints.length) * height;
  const ticks = timeline.toScale ? Array.from({length: 6}, (_, k) => first + (last - first) * k / 5) : times.filter((_, k) => k % Math.max(1, Math.ceil(times.length / (room / 110))) === 0);
  let labelled = 0;  // to there
  for (const at of ticks) {
    const x = timeline.toScale ? left + room * (at - first) / Math.max(1, last - first) : xOf(at);
    const text = timeline.toScale ? duration(at) : clock(at).join(" "), wide = 6.1 * text.length, begin = Math.min(x + 2, width - wide);
    if (begin < labelled) continue;
    out += `<line x1="${x}" x2="${x}" y1="${top}" y2="${bottom}" stroke="var(--line)"/><text class="dim-text tick" x="${begin}" y="${bottom + 13}" font-size="10">${text}</text>`;
    labelled = begin + wide + 6;
  }
  const more = endpoints.length > 200 ? `<p class="dim">The first 200 of ${count(endpoints.length)} endpoints.</p>` : "";
  return `<svg class="timeline" width="${width}" height="${bottom + 20}" role="group" aria-label="States of the endpoints over time">${out}</svg>${more}`;
}

const cellHtml = (head, content, wide = true) => `<td data-head="${head}"${wide ? ' class="wide"' : ""}>${content}</td>`;
const timeHtml = (at) => `<td class="n mono"><button class="link" data-time="${at}">${clock(at).join(" ")}</button></td>`;
const rowCellsHtml = (row) => cellHtml("table", `<span class="mono">${html(row.machine)}</span>`) + cellHtml("state", html(row.source)) + cellHtml("event", html(row.event)) +
  cellHtml("next", row.target === row.source ? `<span class="dim">stays</span>` : html(row.target)) + cellHtml("clause", `<b>${html(row.clause)}</b>`);
const tableHtml = (heads, body) => `<div class="scroll"><table><thead><tr>${heads.map((name) => `<th class="${/^(time|first|times)/.test(name) ? "n" : ""}">${name}</th>`).join("")}</tr></thead><tbody>${body}</tbody></table></div>`;
const rowHeads = ["table", "state", "event", "next state", "clause"];

/// Without a choice those of every table but the busy ones.
function chosenRows() {
  const log = rowLog(), {machine, place} = timeline;
  const takes = log.tables.map((row) => (machine === "*" ? true : machine ? row.machine === machine : !log.busy.includes(row.machine)));
  const found = [];
  for (let k = 0; k < log.count; ++k) if (takes[log.row[k]] && (place === "" || log.place[k] === Number(place))) found.push(k);
  return found;
}

/// Each row of the tables once: how often it fired, of what the page has.
function onceHtml(found) {
  const log = rowLog(), tally = new Map();
  for (const k of found) {
    const entry = tally.get(log.row[k]) || {first: log.at[k], times: 0};
    ++entry.times;
    tally.set(log.row[k], entry);
  }
  const rows = [...tally].map(([number, entry]) => ({...log.tables[number], ...entry, times: timeline.place === "" ? log.tables[number].times : entry.times}));
  rows.sort((a, b) => (a.machine < b.machine ? -1 : a.machine > b.machine ? 1 : a.first - b.first));
  return tableHtml(["first, s", "times", ...rowHeads], rows.map((row) => `<tr>${timeHtml(row.first)}<td class="n" data-head="times">${count(row.times)}</td>${rowCellsHtml(row)}</tr>`).join(""));
}
function inOrderHtml(found) {
  const log = rowLog(), shownRows = found.slice(0, timeline.shownRows), left = found.length - shownRows.length;
  const body = shownRows.map((k) => `<tr>${timeHtml(log.at[k])}<td>${html(places[log.place[k]].name)}</td>${rowCellsHtml(log.tables[log.row[k]])}</tr>`).join("");
  return tableHtml(["time, s", "port", ...rowHeads], body) + (left > 0 ? `<p><button class="tool wide" id="more-rows">Show ${count(Math.min(left, 1000))} more of ${count(left)}</button></p>` : "");
}
function leftOutHtml() {
  const left = Object.entries(head.rows_left_out || {});
  return left.length ? `<p class="dim">Of each table the page has the first 100 000 rows that fired; counted only: ${left.map(([machine, times]) => `${count(times)} of ${html(machine)}`).join(", ")}.</p>` : "";
}
function changesHtml() {
  if (!rowLog().count) {
    const body = states.map((change) => `<tr>${timeHtml(change.at)}<td>${html(change.port)}</td>${cellHtml("connection", html(change.connection))}${cellHtml("from", html(stateWords(change.from)))}${cellHtml("to", html(stateWords(change.to)))}</tr>`).join("");
    return tableHtml(["time, s", "port", "connection", "from", "to"], body);
  }
  const found = chosenRows(), {count: all, busy} = rowLog();
  const said = `<p class="dim" role="status">${count(found.length)} of ${count(all)} are listed${timeline.machine === "" && busy.length ? `; those of ${busy.join(", ")}, which fire with each frame or message, when you choose their table` : ""}.</p>`;
  return said + (timeline.once ? onceHtml(found) : inOrderHtml(found)) + leftOutHtml();
}

/// Which tables and which ports, and whether each row is listed once.
function rowChoicesHtml() {
  const log = rowLog(), option = (value, words, chosen) => `<option value="${html(value)}"${String(value) === String(chosen) ? " selected" : ""}>${html(words)}</option>`;
  const machines = (log.busy.length ? option("", "all but busy ones", timeline.machine) + option("*", "all", timeline.machine) : option("", "all", timeline.machine)) +
    [...log.byMachine].sort().map(([machine, times]) => option(machine, `${machine} (${count(times)})`, timeline.machine)).join("");
  const used = [...new Set(log.place)].sort((a, b) => a - b), ofPlace = option("", "all", timeline.place) + used.map((place) => option(place, places[place].name, timeline.place)).join("");
  return `<label class="field"><span class="dim">table</span><select id="machine" aria-label="Table">${machines}</select></label>` +
    (used.length > 1 ? `<label class="field"><span class="dim">port</span><select id="place" aria-label="Port or switch">${ofPlace}</select></label>` : "") +
    `<button class="tool wide" id="once" aria-pressed="${timeline.once}">Each row once</button>`;
}

function drawStates() {
  const log = rowLog();
  if (!states.length && !log.count) {
    const why = head.source === "run" ? "No endpoint changed its state." : "A capture tells frames, not the states of endpoints. <code>fcvi-sim run --report</code> shows them.";
    stateBox.innerHTML = `<div class="panel"><h2>States</h2><p class="dim">${why}</p></div>`;
    return;
  }
  const legend = [["Idle", "idle"], ["Pending Connect", "pending"], ["Connected", "connected"], ["Disconnecting", "leaving"], ["Error", "error"]]
    .map(([words, name]) => `<span class="s-${name}"><i></i>${words}</span>`).join("");
  const total = log.count ? log.tables.reduce((sum, row) => sum + row.times, 0) : states.length;
  stateBox.innerHTML = `<div class="panel"><h2>Endpoints <button class="tool wide" id="to-scale" aria-pressed="${timeline.toScale}">Time to scale</button></h2>` +
    `<div class="legend">${legend}</div>${states.length ? bandsHtml(Math.max(300, stateBox.clientWidth - (isNarrow() ? 50 : 64))) : ""}</div>` +
    `<div class="panel"><h2>${log.count ? "Rows that fired" : "Changes"} <span class="dim">${count(total)}</span></h2>${log.count ? `<div class="choices">${rowChoicesHtml()}</div>` : ""}<div id="changes">${changesHtml()}</div></div>`;
}

stateBox.addEventListener("click", (event) => {
  const target = event.target.closest("[data-time],[data-change],#to-scale,#more-rows,#once");
  if (!target) return;
  if (target.id === "to-scale") { timeline.toScale = !timeline.toScale; drawStates(); byId("to-scale").focus(); }
  else if (target.id === "once") {
    timeline.once = !timeline.once;
    target.setAttribute("aria-pressed", String(timeline.once));
    byId("changes").innerHTML = changesHtml();
  } else if (target.id === "more-rows") { timeline.shownRows += 1000; byId("changes").innerHTML = changesHtml(); }
  else chooseTime(target.dataset.change ? states[Number(target.dataset.change)].at : Number(target.dataset.time), Number(target.dataset.change));
});
stateBox.addEventListener("keydown", (event) => {
  const target = event.target.closest("[data-change]");
  if (target && (event.key === "Enter" || event.key === " ")) { chooseTime(states[Number(target.dataset.change)].at, Number(target.dataset.change)); event.preventDefault(); }
});
stateBox.addEventListener("change", (event) => {
  if (event.target.id !== "machine" && event.target.id !== "place") return;
  timeline[event.target.id] = event.target.value;
  timeline.shownRows = rowsShownAtOnce;
  byId("changes").innerHTML = changesHtml();
});

/// The state change itself where the ladder shows it, else the frame at that time.
function chooseTime(at, change) {
  showView("ladder");
  const place = Number.isInteger(change) ? ladder.items.indexOf(-(change + 1)) : -1;
  if (place >= 0) choose(place, {open: true, center: true});
  else if (frames.count) chooseFrame(frameAtTime(at));
}

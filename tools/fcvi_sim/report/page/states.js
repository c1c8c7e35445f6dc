// What the endpoints went through: a band of states for each, and the rows of the tables that fired.
const stateBox = byId("states");
const rowsShownAtOnce = 300;
const timeline = {toScale: false, shownRows: rowsShownAtOnce, machine: ""};

/// The row of vi_endpoint's table that made the change: at that port and time, into that state.
function rowOfChange(change) {
  return rowsFired.find((row) => row.at === change.at && row.port === change.port && row.target === change.to) || null;
}

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
    out += `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${html(port)}</text><text class="dim-text" x="${left - 8}" y="${y + 24}" text-anchor="end" font-size="9">${html(connection)}</text>`;
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
  for (const at of ticks) {
    const x = timeline.toScale ? left + room * (at - first) / Math.max(1, last - first) : xOf(at);
    out += `<line x1="${x}" x2="${x}" y1="${top}" y2="${bottom}" stroke="var(--line)"/><text class="dim-text" x="${x + 2}" y="${bottom + 13}" font-size="10">${timeline.toScale ? duration(at) : clock(at).join(" ")}</text>`;
  }
  const more = endpoints.length > 200 ? `<p class="dim">The first 200 of ${count(endpoints.length)} endpoints.</p>` : "";
  return `<svg class="timeline" width="${width}" height="${bottom + 20}" role="group" aria-label="States of the endpoints over time">${out}</svg>${more}`;
}

function changesHtml() {
  const rows = rowsFired.length ? rowsFired.filter((row) => !timeline.machine || row.machine === timeline.machine) : states;
  const shownRows = rows.slice(0, timeline.shownRows);
  const body = shownRows.map((row) => {
    const cell = (head, content, wide = true) => `<td data-head="${head}"${wide ? ' class="wide"' : ""}>${content}</td>`;
    const at = `<td class="n mono"><button class="link" data-time="${row.at}">${clock(row.at).join(" ")}</button></td><td>${html(row.port)}</td>`;
    if (!rowsFired.length) return `<tr>${at}${cell("connection", html(row.connection))}${cell("from", html(stateWords(row.from)))}${cell("to", html(stateWords(row.to)))}</tr>`;
    const target = row.target === row.source ? `<span class="dim">stays</span>` : html(row.target);
    return `<tr>${at}${cell("table", `<span class="mono">${html(row.machine)}</span>`)}${cell("state", html(row.source))}${cell("event", html(row.event))}${cell("next", target)}${cell("clause", `<b>${html(row.clause)}</b>`)}</tr>`;
  }).join("");
  const heads = rowsFired.length ? ["time, s", "port", "table", "state", "event", "next state", "clause"] : ["time, s", "port", "connection", "from", "to"];
  const left = rows.length - shownRows.length;
  return `<div class="scroll"><table><thead><tr>${heads.map((name, k) => `<th class="${k ? "" : "n"}">${name}</th>`).join("")}</tr></thead><tbody>${body}</tbody></table></div>` +
    (left > 0 ? `<p><button class="tool wide" id="more-rows">Show ${count(Math.min(left, 1000))} more of ${count(left)}</button></p>` : "");
}

function drawStates() {
  if (!states.length && !rowsFired.length) {
    const why = head.source === "run" ? "No endpoint changed its state." : "A capture tells frames, not the states of endpoints. <code>fcvi-sim run --report</code> shows them.";
    stateBox.innerHTML = `<div class="panel"><h2>States</h2><p class="dim">${why}</p></div>`;
    return;
  }
  const legend = [["Idle", "idle"], ["Pending Connect", "pending"], ["Connected", "connected"], ["Disconnecting", "leaving"], ["Error", "error"]]
    .map(([words, name]) => `<span class="s-${name}"><i></i>${words}</span>`).join("");
  const machines = [...new Set(rowsFired.map((row) => row.machine))].sort();
  const choice = machines.length ? `<label class="field"><span class="dim">table</span><select id="machine" aria-label="Table"><option value="">all</option>${machines.map((name) => `<option${name === timeline.machine ? " selected" : ""}>${html(name)}</option>`).join("")}</select></label>` : "";
  stateBox.innerHTML = `<div class="panel"><h2>Endpoints <button class="tool wide" id="to-scale" aria-pressed="${timeline.toScale}">Time to scale</button></h2>` +
    `<div class="legend">${legend}</div>${states.length ? bandsHtml(Math.max(300, stateBox.clientWidth - (isNarrow() ? 50 : 64))) : ""}</div>` +
    `<div class="panel"><h2>${rowsFired.length ? "Rows that fired" : "Changes"} <span class="dim">${count((rowsFired.length ? rowsFired : states).length)}</span>${choice}</h2><div id="changes">${changesHtml()}</div></div>`;
}

stateBox.addEventListener("click", (event) => {
  const target = event.target.closest("[data-time],[data-change],#to-scale,#more-rows");
  if (!target) return;
  if (target.id === "to-scale") { timeline.toScale = !timeline.toScale; drawStates(); byId("to-scale").focus(); }
  else if (target.id === "more-rows") { timeline.shownRows += 1000; byId("changes").innerHTML = changesHtml(); }
  else chooseTime(target.dataset.change ? states[Number(target.dataset.change)].at : Number(target.dataset.time), Number(target.dataset.change));
});
stateBox.addEventListener("keydown", (event) => {
  const target = event.target.closest("[data-change]");
  if (target && (event.key === "Enter" || event.key === " ")) { chooseTime(states[Number(target.dataset.change)].at, Number(target.dataset.change)); event.preventDefault(); }
});
stateBox.addEventListener("change", (event) => {
  if (event.target.id !== "machine") return;
  timeline.machine = event.target.value;
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

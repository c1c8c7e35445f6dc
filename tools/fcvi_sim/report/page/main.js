// The summary, the views, colours, and keys that work everywhere.
const views = ["summary", "ladder", "states", "plots"];

function cardsHtml() {
  const last = frames.count ? frames.at[frames.count - 1] - frames.at[0] : 0;
  let bytes = 0, lostFrames = 0, withFault = 0, violations = 0;
  for (let i = 0; i < frames.count; ++i) {
    bytes += frames.size[i];
    lostFrames += has(i, flag.lost) ? 1 : 0;
    withFault += has(i, flag.fault) ? 1 : 0;
    violations += has(i, flag.violation) ? 1 : 0;
  }
  const connections = new Set(frames.connection);
  connections.delete(0);
  const card = (value, words, query, bad) => query !== undefined && value !== "0"
    ? `<button class="card${bad ? " bad" : ""}" data-query="${query}"><b>${value}</b><span>${words}</span></button>` : `<div class="card"><b>${value}</b><span>${words}</span></div>`;
  return `<div class="cards">${card(count(frames.count), frames.copies ? `frames, in ${count(frames.count + frames.copies)} records` : "frames", "")}${card(bytesText(bytes), "on the wire")}${card(duration(last), "from first to last")}` +
    card(count(connections.size), "connections") + card(count(withFault), `frames with a fault${lostFrames ? `, ${count(lostFrames)} lost` : ""}`, "is:fault", true) +
    card(count(violations), "frames against the standard", "is:violation", true) + `</div>`;
}

/// Some rows judge several conditions, of which one may have failed: the numbers of the head count conditions.
function heldWords(held) {
  const conditions = held.reduce((sum, verdict) => sum + verdict.conditions, 0), all = head.checked - head.failed;
  const rows = all === held.length ? "" : `, in ${count(held.length)} rows`;
  return `${count(all)} that held${rows}${all > conditions ? ` and ${count(all - conditions)} in those that failed` : ""}`;
}

function verdictsHtml() {
  if (head.source !== "run") return `<div class="panel"><h2>Expectations</h2><p class="dim">A capture has no expectations and tells no states: <code>fcvi-sim run SCENARIO --report F.html</code> shows a run with both.</p></div>`;
  const row = (verdict) => `<tr><td><span class="sign ${verdict.held ? "good" : "bad"}">${verdict.held ? "✓" : "✗"}</span>${html(verdict.what)}</td><td>${html(verdict.expected)}</td><td class="${verdict.held ? "" : "got"}">${html(verdict.got)}</td></tr>`;
  const tableOf = (list) => `<div class="scroll"><table><thead><tr><th>expectation</th><th>expected</th><th>seen</th></tr></thead><tbody>${list.map(row).join("")}</tbody></table></div>`;
  const failed = head.verdicts.filter((verdict) => !verdict.held), held = head.verdicts.filter((verdict) => verdict.held);
  const said = failed.length ? `${count(head.failed)} of ${count(head.checked)} failed` : `all ${count(head.checked)} held`;
  return `<div class="panel${failed.length ? " bad" : ""}"><h2>Expectations <span class="dim">${said}</span></h2>${failed.length ? tableOf(failed.slice(0, 1000)) : ""}` +
    (held.length ? `<details><summary>${heldWords(held)}</summary>${tableOf(held.slice(0, 2000))}</details>` : "") + `</div>`;
}

function hitsHtml(hits, open) {
  if (!hits.length) return "";
  const each = hits.slice(0, 200).map(([i, , text]) => `<tr><td class="n">${frames.number[i]}</td><td><button class="link" data-frame="${i}">${html(textFrame(i))}</button></td><td>${html(text)}</td></tr>`).join("");
  return `<details${open ? " open" : ""}><summary>${count(hits.length)} ${hits.length === 1 ? "frame" : "frames"}${hits.length > 200 ? ", the first 200" : ""}</summary><div class="scroll"><table><tbody>${each}</tbody></table></div></details>`;
}

function faultsHtml() {
  const hits = frames.remarks.filter(([, what]) => what === "fault");
  if (!hits.length && !(head.faults || []).length) return "";
  const rules = (head.faults || []).map((fault, rule) => {
    const own = hits.filter((hit) => hit[3] === rule);
    const where = fault.of_frames ? own.slice(0, 6).map(([i]) => `<button class="link" data-frame="${i}">frame ${frames.number[i]}</button>`).join(", ") + (own.length > 6 ? " …" : "") : `<span class="dim">a port</span>`;
    return `<tr><td>${html(fault.note)}</td><td class="n">${count(fault.times)}</td><td>${html(fault.expected)}</td><td>${where}</td></tr>`;
  }).join("");
  const rulesTable = rules ? `<div class="scroll"><table><thead><tr><th>fault</th><th class="n">times</th><th>expected</th><th>hit</th></tr></thead><tbody>${rules}</tbody></table></div>` : "";
  return `<div class="panel"><h2>Faults <span class="dim">and what they hit</span></h2>${rulesTable}${hitsHtml(hits, !rules)}</div>`;
}

function commentsHtml() {
  const hits = frames.remarks.filter(([, what]) => what === "note");
  return hits.length ? `<div class="panel"><h2>Comments <span class="dim">that tell of no fault</span></h2>${hitsHtml(hits, hits.length < 20)}</div>` : "";
}

function violationsHtml() {
  const found = new Map();
  for (const [i, name, text] of frames.remarks) {
    if (isComment(name)) continue;
    if (!found.has(name)) found.set(name, {first: i, text, times: 0});
    ++found.get(name).times;
  }
  if (!found.size) return "";
  const rows = [...found].sort((a, b) => b[1].times - a[1].times).map(([name, {first, text, times}]) => `<tr><td class="mono">${html(name)}</td><td class="n">${count(times)}</td><td><button class="link" data-frame="${first}">frame ${frames.number[first]}</button> ${html(text)}</td></tr>`);
  return `<div class="panel"><h2>Against the standard <span class="dim">as a receiver can see it</span></h2><div class="scroll"><table><thead><tr><th>violation</th><th class="n">times</th><th>first</th></tr></thead><tbody>${rows.join("")}</tbody></table></div></div>`;
}

function messagesHtml() {
  const tally = new Map();
  for (let i = 0; i < frames.count; ++i) {
    const name = nameFrame(i), entry = tally.get(name) || {kind: frames.kind[i], frames: 0, sequences: 0, bytes: 0};
    ++entry.frames;
    entry.sequences += has(i, flag.first) ? 1 : 0;
    entry.bytes += frames.size[i];
    tally.set(name, entry);
  }
  const most = Math.max(...[...tally.values()].map((entry) => entry.frames), 1);
  const rows = [...tally].sort((a, b) => b[1].frames - a[1].frames).slice(0, 60).map(([name, entry]) => `<tr><td><button class="link" data-query="name:${html(name)}">${html(name)}</button></td><td class="n">${count(entry.sequences)}</td><td class="n">${count(entry.frames)}</td><td class="n">${bytesText(entry.bytes)}</td>` +
    `<td class="meter-cell"><span class="meter k${entry.kind}" style="width:${Math.max(1, 100 * entry.frames / most)}%;background:currentColor"></span></td></tr>`);
  return `<div class="panel"><h2>Messages</h2><div class="scroll"><table><thead><tr><th>name</th><th class="n">sequences</th><th class="n">frames</th><th class="n">bytes</th><th class="meter-cell"></th></tr></thead><tbody>${rows.join("")}</tbody></table></div></div>`;
}

function connectionsHtml() {
  const all = new Map();
  for (let i = 0; i < frames.count; ++i) {
    const index = frames.connection[i];
    if (!index) continue;
    const entry = all.get(index) || {first: i, last: i, frames: 0, bytes: 0, remarks: 0};
    entry.last = i;
    ++entry.frames;
    entry.bytes += frames.size[i];
    entry.remarks += isUnusual(i) ? 1 : 0;
    all.set(index, entry);
  }
  if (!all.size) return "";
  const rows = [...all].slice(0, 300).map(([index, entry]) => {
    const own = fieldsOf(entry.last).find((field) => field.name === "Connection");
    const value = (name) => { const found = own && own.fields.find((field) => field.name === name); return found ? found.value : ""; };
    const ends = [frames.from[entry.first], frames.to[entry.first]].sort((a, b) => a - b).map((lane) => frames.lane[lane].title).join(" ↔ ");
    return `<tr><td><button class="link" data-query="connection:${index}">${index} ${html(value("discriminator"))}</button></td><td>${html(ends)}</td><td>${html(value("level"))}</td><td class="n" data-head="frames">${count(entry.frames)}</td><td class="n" data-head="bytes">${bytesText(entry.bytes)}</td><td class="n" data-head="time">${duration(frames.at[entry.last] - frames.at[entry.first])}</td><td class="n" data-head="remarks">${entry.remarks || ""}</td></tr>`;
  });
  const more = all.size > 300 ? `<p class="dim">The first 300 of ${count(all.size)}.</p>` : "";
  return `<div class="panel"><h2>Connections</h2><div class="scroll"><table class="connections"><thead><tr><th>connection</th><th>ends</th><th>level</th><th class="n">frames</th><th class="n">bytes</th><th class="n">time</th><th class="n">remarks</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>${more}</div>`;
}

function notesHtml() {
  const notes = [];
  if (head.broken) notes.push(`The capture is broken: ${head.broken}. The page has what comes before.`);
  if (head.not_captured) notes.push(`Not captured where they attach (capture: false): ${head.not_captured}. Their frames are shown where others see them.`);
  if (frames.without_header) notes.push(`${count(frames.without_header)} records are not in the page: they are neither Fibre Channel nor FIP frames nor the end of a VI segment over TCP, or cut within their header. fcvi-sim decode prints them.`);
  const back = frames.step.reduce((sum, step) => sum + (step < 0 ? 1 : 0), 0);
  if (back) notes.push(`The records of the capture are not in the order of their times: ${count(back)} are earlier than the one before. The ladder has them as the capture does.`);
  if (head.left_out) notes.push(`The page has the first ${count(frames.count)} frames; ${count(head.left_out)} later records of the capture are left out (--frames).`);
  return notes.map((note) => `<div class="panel"><p style="margin:0">${html(note)}</p></div>`).join("");
}

function drawSummary() {
  const pill = byId("verdict");
  const isRun = head.source === "run", good = isRun && head.failed === 0;
  pill.className = `pill ${isRun ? (good ? "good" : "bad") : "plain"}`;
  const said = !isRun ? [] : good ? [`✓ all ${count(head.checked)} expectations held`, `✓ ${count(head.checked)}`] : [`✗ ${count(head.failed)} of ${count(head.checked)} failed`, `✗ ${count(head.failed)}`];
  pill.innerHTML = isRun ? `<span class="long">${said[0]}</span><span class="short">${said[1]}</span>` : "capture";
  const text = head.summary ? `<div class="panel"><h2>What the run printed</h2><pre>${html(head.summary.trim())}</pre></div>` : "";
  byId("summary").innerHTML = cardsHtml() + notesHtml() + verdictsHtml() + connectionsHtml() + `<div class="panels">${faultsHtml()}${commentsHtml()}${violationsHtml()}${messagesHtml()}</div><div style="height:16px"></div>${text}`;
}
byId("summary").addEventListener("click", (event) => {
  const target = event.target.closest("[data-frame],[data-query]");
  if (!target) return;
  if (target.dataset.frame) return chooseFrame(Number(target.dataset.frame));
  showView("ladder");
  setFilter(target.dataset.query);
  list.focus();
});

// --- views, colours, keys ----------------------------------------------------------------------------------------

let view = "";
function showView(name) {
  if (view === name) return;
  view = name;
  for (const other of views) {
    byId(other).hidden = other !== name;
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
  }
  if (name === "ladder") { layOutLanes(); followStates(); draw(true); choose(ladder.chosen, {open: false}); }
  if (name === "states") drawStates();
  if (name === "plots" && !plots.made) makePlots();
  history.replaceState(null, "", `#${name}`);
}
for (const name of views) byId(`tab-${name}`).addEventListener("click", () => { showView(name); if (name === "ladder") list.focus(); });
document.querySelector(".tabs").addEventListener("keydown", (event) => {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  const next = views[(views.indexOf(view) + step + views.length) % views.length];
  showView(next);
  byId(`tab-${next}`).focus();
});

const themes = ["system", "light", "dark"], themeSigns = {system: "◐", light: "☀", dark: "☾"};
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let theme = "system";
function setTheme(name) {
  theme = name;
  const dark = name === "dark" || (name === "system" && darkSystem.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = themeSigns[name];
  byId("theme").setAttribute("aria-label", `Colours: ${name}`);
  for (const {plot} of plots.all) plot.redraw(false, true);
}
darkSystem.addEventListener("change", () => setTheme(theme));
const nextTheme = () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
byId("theme").addEventListener("click", nextTheme);
function showHelp() {
  byId("help").showModal();
  byId("help").scrollTop = 0;  // its button, which has the focus, is at the end
}
byId("help-button").addEventListener("click", showHelp);

function nextRemark() { showView("ladder"); jump(1, isUnusual); }
function partner() {
  const i = ladder.items[ladder.chosen];
  if (!(i >= 0 && i < foldBase)) return;
  const other = frames.request[i] ? frameNumbered(frames.request[i]) : answerOf(i);
  if (other >= 0) chooseFrame(other);
}
/// Of the view that has it, else of the ladder.
function openPorts() {
  if (view !== "plots") showView("ladder");
  const box = byId(view === "plots" ? "plot-ports" : "ladder-ports");
  if (box && !box.hidden) box.open = true;
}
const keys = {
  "1": () => showView("summary"), "2": () => { showView("ladder"); list.focus(); }, "3": () => showView("states"), "4": () => { showView("plots"); plotsBox.focus(); },
  f: () => { showView("ladder"); byId("filter").select(); }, "/": () => { showView("ladder"); byId("search").select(); },
  n: () => ladder.search && jump(1, ladder.search), N: () => ladder.search && jump(-1, ladder.search), a: partner, "!": nextRemark,
  "+": () => zoom(1), "=": () => zoom(1), "-": () => zoom(-1), d: () => setFold(!ladder.foldsLong), p: openPorts, t: nextTheme, "?": showHelp,
  Escape: () => { if (isOpen()) closeDetail(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target.matches("input,select,textarea") || byId("help").open) return;
  const action = keys[event.key];
  if (!action) return;
  action();
  event.preventDefault();
});

setTheme("system");
drawSummary();
beginLadder();
const wantedView = location.hash.slice(1);
showView(views.includes(wantedView) ? wantedView : "summary");
let resizing = 0;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { if (view === "states") drawStates(); }, 100); });
document.documentElement.dataset.ready = "yes";

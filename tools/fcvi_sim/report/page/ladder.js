// The ladder: a row for each frame, state change or fold, of which only those on the screen are elements.
const list = byId("ladder-list"), rowsBox = byId("ladder-rows"), lanesBox = byId("lanes");
const rowHeights = [3, 6, 12, 20, 26, 34, 46];
const foldBase = 1 << 29;          // items: frames are i, state changes -(s + 1), folds foldBase + f
const foldedFrom = 9, shownBefore = 3, shownBehind = 1;  // of a run of plain frames
const timeWidth = 132, leastLane = 62, leastText = 300;
/// Words need room as much as arrows do.
const textWidthOf = (width) => Math.max(340, Math.min(640, width * 0.44));

const ladder = {
  items: new Int32Array(0), folds: [], opened: new Set(), visible: [], place: new Int32Array(frames.count),
  behindPorts: 0, othersX: -1, chosen: 0, zoom: 4, foldsLong: true, hiddenKinds: new Set(), query: parseQuery(""), search: null, laneX: [], laneStates: [],
};

const isPlain = (i) => ["data", "response", "ack"].includes(kinds[frames.kind[i]]) &&
  !(frames.flags[i] & (flag.lost | flag.fault | flag.violation | flag.retry));

/// Between two ports that are not shown there is nothing to draw.
const hasLane = (i) => isPortShown(frames.from[i]) || isPortShown(frames.to[i]);
function visibleFrames() {
  const all = [], {query, hiddenKinds} = ladder;
  ladder.behindPorts = 0;
  for (let i = 0; i < frames.count; ++i) {
    if (hiddenKinds.has(frames.kind[i]) || !(query.isEmpty || query.test(i))) continue;
    if (hasLane(i)) all.push(i); else ++ladder.behindPorts;
  }
  return all;
}

/// Positions in the list of visible frames: what stays of runs, and folds.
function foldRuns(visible) {
  const out = [], folds = [];
  for (let start = 0; start < visible.length;) {
    let end = start;
    while (end < visible.length && isPlain(visible[end])) ++end;
    const isLong = end - start >= foldedFrom && ladder.foldsLong && !ladder.opened.has(visible[start]);
    if (!isLong) {
      for (end = Math.max(end, start + 1); start < end; ++start) out.push(visible[start]);
      continue;
    }
    for (let k = start; k < start + shownBefore; ++k) out.push(visible[k]);
    out.push(foldBase + folds.length);
    folds.push({key: visible[start], from: start + shownBefore, to: end - shownBehind});
    for (let k = end - shownBehind; k < end; ++k) out.push(visible[k]);
    start = end;
  }
  return {out, folds};
}

const firstFrameOf = (item) => (item >= foldBase ? ladder.visible[ladder.folds[item - foldBase].from] : item);
/// State changes stand between the frames, in the order of time.
function withStates(out) {
  if (!states.length || !ladder.query.isEmpty) return out;
  const merged = [], add = (change) => { if (states[change].lane < 0 || isPortShown(states[change].lane)) merged.push(-(change + 1)); };
  let next = 0;
  for (const item of out) {
    const at = frames.at[firstFrameOf(item)];
    for (; next < states.length && states[next].at < at; ++next) add(next);
    merged.push(item);
  }
  for (; next < states.length; ++next) add(next);
  return merged;
}

function foldText(fold) {
  if (fold.text) return fold.text;
  const names = new Map();
  let bytes = 0;
  for (let k = fold.from; k < fold.to; ++k) {
    const i = ladder.visible[k];
    names.set(nameFrame(i), (names.get(nameFrame(i)) || 0) + 1);
    bytes += frames.size[i];
  }
  const parts = [...names].sort((a, b) => b[1] - a[1]).map(([name, times]) => `${count(times)} × ${name}`);
  const span = frames.at[ladder.visible[fold.to - 1]] - frames.at[ladder.visible[fold.from]];
  return (fold.text = {count: fold.to - fold.from, words: `${parts.join(", ")} · ${bytesText(bytes)} in ${duration(span)}`});
}

function rebuild(keep) {
  const kept = keep === undefined ? frameOf(ladder.items[ladder.chosen]) : keep;
  ladder.visible = visibleFrames();
  const {out, folds} = foldRuns(ladder.visible);
  ladder.folds = folds;
  ladder.items = Int32Array.from(withStates(out));
  ladder.place.fill(-1);
  ladder.items.forEach((item, at) => {
    if (item >= foldBase) for (let k = folds[item - foldBase].from; k < folds[item - foldBase].to; ++k) ladder.place[ladder.visible[k]] = at;
    else if (item >= 0) ladder.place[item] = at;
  });
  followStates();
  layOutLanes();
  ladder.chosen = nearestPlace(kept);
  const none = byId("ladder-none");
  none.hidden = ladder.items.length > 0;
  none.textContent = !frames.count ? "No frame was captured." : ladder.behindPorts ? "The frames that pass the filter are of ports that are not shown." : "No frame passes the filter.";
  const shownCount = ladder.visible.length, behind = ladder.behindPorts ? ` · ${count(ladder.behindPorts)} between ports that are not shown` : "";
  byId("filter-said").textContent = ladder.query.wrong ? `not understood: ${ladder.query.wrong}`
    : (shownCount === frames.count ? `${count(shownCount)} frames` : `${count(shownCount)} of ${count(frames.count)} frames`) + behind;
  countMatches();
  draw(true);
}

const frameOf = (item) => (item === undefined ? 0 : item >= foldBase ? firstFrameOf(item) : item >= 0 ? item : frameAtTime(states[-item - 1].at));
function frameAtTime(at) {
  let low = 0, high = frames.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frames.at[middle] < at) low = middle + 1; else high = middle;
  }
  return Math.min(low, Math.max(0, frames.count - 1));
}
/// The row of that frame, else of the next one that is shown.
function nearestPlace(frame) {
  for (let i = frame; i < frames.count; ++i) if (ladder.place[i] >= 0) return ladder.place[i];
  return Math.max(0, ladder.items.length - 1);
}

/// For each lane where in the list which state begins: of the endpoint that is chosen, else of the latest that changed.
function followStates() {
  ladder.laneStates = frames.lane.map(() => []);
  const wanted = byId("states-of").value, perLane = frames.lane.map(() => 0);
  for (const change of states) {
    if (change.lane < 0 || (wanted && change.connection !== wanted)) continue;
    const at = frames.count && change.at > frames.at[frames.count - 1] ? ladder.items.length : nearestPlace(frameAtTime(change.at));
    ladder.laneStates[change.lane].push({at, state: change.to});
    ++perLane[change.lane];
  }
}
function stateAt(lane, at) {
  const changes = ladder.laneStates[lane];
  let low = 0, high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle].at <= at) low = middle + 1; else high = middle;
  }
  return low ? changes[low - 1].state : changes.length ? "Idle" : "";
}

// --- lanes -------------------------------------------------------------------------------------------------------

/// Address and N_Port_ID, a line each.
const subtitleHtml = (subtitle) => subtitle.split("  ").map((line) => `<small title="${html(line)}">${html(line)}</small>`).join("");

function layOutLanes() {
  const used = new Uint8Array(frames.lane.length), width = Math.max(280, list.clientWidth || list.offsetWidth);
  for (const i of ladder.visible) used[frames.from[i]] = used[frames.to[i]] = 1;
  const inUse = frames.lane.map((_, k) => k).filter((k) => used[k]);
  const lanes = inUse.filter(isPortShown), others = inUse.filter((k) => !isPortShown(k));
  const n = Math.max(1, lanes.length + (others.length ? 1 : 0)), textWidth = textWidthOf(width);
  const compact = width < 620 || width - timeWidth - leastLane * n < leastText;  // no room beside: the words above the arrows
  const room = compact ? width - 12 : width - timeWidth - textWidth;
  const space = Math.max(compact ? 42 : leastLane, Math.min(compact ? 400 : 210, room / n));
  Object.assign(ladder, {compact, lanes, left: compact ? 6 : timeWidth, laneWidth: space * n, laneX: []});
  lanes.forEach((lane, k) => { ladder.laneX[lane] = space * (k + 0.5); });
  ladder.othersX = others.length ? space * (lanes.length + 0.5) : -1;  // one line for all that are not shown
  for (const lane of others) ladder.laneX[lane] = ladder.othersX;
  ladder.textLeft = ladder.left + ladder.laneWidth + 10;
  ladder.width = compact ? Math.max(width, ladder.laneWidth + 12) : Math.max(width, ladder.textLeft + textWidth * 0.8);
  lanesBox.innerHTML = lanes.map((k) => `<div class="lane${frames.lane[k].service ? " service" : ""}" style="left:${ladder.left + ladder.laneX[k]}px;width:${space - 4}px">` +
    `<b title="${html(frames.lane[k].title)}">${html(frames.lane[k].title)}</b>${subtitleHtml(frames.lane[k].subtitle)}</div>`).join("") +
    (others.length ? `<div class="lane service" style="left:${ladder.left + ladder.othersX}px;width:${space - 4}px"><b title="Ports that are not shown">others</b><small>${count(others.length)} ports</small></div>` : "");
  rowsBox.classList.toggle("compact", compact);
}

function rowHeight() {
  const wanted = rowHeights[ladder.zoom] + (ladder.compact && rowHeights[ladder.zoom] >= 18 ? 10 : 0);
  return Math.min(wanted, Math.max(1, 15e6 / Math.max(1, ladder.items.length)));  // what browsers can scroll
}

// --- rows --------------------------------------------------------------------------------------------------------

function lines(at, height) {
  return ladder.lanes.map((lane) => {
    const state = stateAt(lane, at), x = ladder.laneX[lane];
    return state ? `<line class="${stateClass(state)}" x1="${x}" x2="${x}" y1="0" y2="${height}" stroke="var(--s)" stroke-width="4" opacity=".55"/>`
      : `<line x1="${x}" x2="${x}" y1="0" y2="${height}" stroke="var(--lane)" stroke-width="1.5"/>`;
  }).join("") + (ladder.othersX < 0 ? "" : `<line x1="${ladder.othersX}" x2="${ladder.othersX}" y1="0" y2="${height}" stroke="var(--lane)" stroke-width="1.5" stroke-dasharray="2 4"/>`);
}

function arrow(i, height) {
  const x1 = ladder.laneX[frames.from[i]], x2 = ladder.laneX[frames.to[i]], forward = x2 >= x1 ? 1 : -1;
  const y = ladder.compact && height > 24 ? 24 : height / 2;
  if (x1 === x2) return `<circle cx="${x1}" cy="${y}" r="3.5" fill="currentColor"/>`;
  const lost = has(i, flag.lost), end = lost ? x1 + (x2 - x1) * 0.55 : x2 - 2.5 * forward, thin = height < 10;
  const dash = kinds[frames.kind[i]] === "response" ? ' stroke-dasharray="5 3"' : "";
  let out = `<line x1="${x1}" x2="${end}" y1="${y}" y2="${y}" stroke="currentColor" stroke-width="${thin ? 1 : 1.6}"${dash}/>`;
  if (thin) return out;
  if (lost) out += `<path d="M${end - 5} ${y - 5}l10 10m0-10l-10 10" stroke="var(--k6)" stroke-width="2.2"/>`;
  else out += `<path d="M${end} ${y}l${-8 * forward} -4v8z" fill="currentColor"/>`;
  if (has(i, flag.fault) && !lost) {
    const middle = (x1 + x2) / 2;
    out += `<path d="M${middle} ${y - 5}l5 5l-5 5l-5 -5z" fill="var(--k6)"/>`;
  }
  return out + `<circle cx="${x1}" cy="${y}" r="2.4" fill="currentColor"/>`;
}

const clockHtml = (ns) => {
  const [seconds, micro, nano] = clock(ns);
  return `${seconds} ${micro} <i>${nano}</i>`;
};

function partsOf(at, height) {
  const item = ladder.items[at];
  if (item >= foldBase) {
    const fold = ladder.folds[item - foldBase], {count: n, words} = foldText(fold);
    return {class: "fold", time: "", label: `${count(n)} frames folded: ${words}`,
      text: `<span>▸ <b>${count(n)} more</b> · ${html(words)}</span>`, svg: foldMark(height)};
  }
  if (item < 0) {
    const change = states[-item - 1], row = rowOfChange(change), words = `${stateWords(change.from)} → ${stateWords(change.to)}`;
    const words2 = `${row ? `${row.event} · ${row.clause} · ` : ""}${change.connection}`, two = height >= 24;
    return {class: `state ${stateClass(change.to)}${two ? " two" : ""}`, time: clockHtml(change.at), label: `${change.port}, connection ${change.connection}: ${words}${row ? `, by ${row.event}, ${row.clause}` : ""}`,
      text: two ? `<span><b>${html(change.port)}</b> ${html(words)}</span><span>${html(words2)}</span>` : `<span><b>${html(change.port)}</b> ${html(words)} · ${html(words2)}</span>`, svg: stateMark(change, height)};
  }
  const said = remarksOf(item).map((remark) => remark.name || remark.text), tone = isUnusual(item) ? "bad" : "note";
  const from = frames.lane[frames.from[item]].title, to = frames.lane[frames.to[item]].title;
  return {class: `k${frames.kind[item]}${ladder.search && ladder.search(item) ? " match" : ""}`, time: clockHtml(frames.at[item]),
    label: `Frame ${frames.number[item]}, ${from} to ${to}: ${textFrame(item)}${said.length ? ", " + said.join(", ") : ""}`,
    text: `<span>${html(textFrame(item))}</span>${otherEndHtml(item)}${said.length ? `<span class="${tone}">${html(said.join(", "))}</span>` : ""}`, svg: arrow(item, height)};
}

/// Where the line of the others does not tell which it is.
function otherEndHtml(i) {
  const to = frames.to[i], from = frames.from[i];
  if (isPortShown(to) && isPortShown(from)) return "";
  return `<span class="note">${isPortShown(to) ? "← " + html(frames.lane[from].title) : "→ " + html(frames.lane[to].title)}</span>`;
}

function foldMark(height) {
  const y = ladder.compact && height > 24 ? 24 : height / 2, at = ladder.lanes.map((lane) => ladder.laneX[lane]).concat(ladder.othersX < 0 ? [] : ladder.othersX), first = at[0], last = at[at.length - 1];
  return `<rect x="${first - 8}" width="${Math.max(16, last - first + 16)}" y="${Math.max(1, y - 6)}" height="${Math.min(12, height - 2)}" rx="4" fill="var(--soft)" stroke="var(--line)" stroke-dasharray="3 3"/>`;
}
function stateMark(change, height) {
  const x = ladder.laneX[change.lane];
  if (x === undefined) return "";
  const below = ladder.compact && height > 30;  // the words
  return `<rect x="${x - 7}" y="${below ? height - 9 : height / 2 - Math.min(5, height / 3)}" width="14" height="${below ? 8 : Math.min(10, height / 1.5)}" rx="3" fill="var(--s)"/>`;
}

function rowHtml(at, height) {
  const parts = partsOf(at, height);
  return `<div class="row ${parts.class}${at === ladder.chosen ? " chosen" : ""}${height < 17 ? " small" : ""}" id="item-${at}" role="option" aria-selected="${at === ladder.chosen}"` +
    ` aria-setsize="${ladder.items.length}" aria-posinset="${at + 1}" aria-label="${html(parts.label)}" data-at="${at}" style="top:${at * height}px;height:${height}px">` +
    `<span class="t">${parts.time}</span><svg style="left:${ladder.left}px;width:${ladder.laneWidth}px" aria-hidden="true">${lines(at, height)}${parts.svg}</svg>` +
    `<span class="x" style="left:${ladder.textLeft}px" title="${html(parts.label)}">${parts.text}</span></div>`;
}

const drawn = {first: -1, last: -1};
function draw(force) {
  const height = rowHeight(), top = list.scrollTop, room = list.clientHeight;
  const first = Math.max(0, Math.floor(top / height) - 8), last = Math.min(ladder.items.length, Math.ceil((top + room) / height) + 8);
  if (!force && first >= drawn.first && last <= drawn.last && drawn.height === height) return;
  const margin = Math.ceil(room / height / 2);
  Object.assign(drawn, {first: Math.max(0, first - margin), last: Math.min(ladder.items.length, last + margin), height});
  rowsBox.style.height = ladder.items.length * height + "px";
  rowsBox.style.width = ladder.width > list.clientWidth + 1 ? ladder.width + "px" : "";
  let out = "";
  for (let at = drawn.first; at < drawn.last; ++at) out += rowHtml(at, height);
  rowsBox.innerHTML = out;
  list.setAttribute("aria-activedescendant", `item-${ladder.chosen}`);
  lanesBox.scrollLeft = list.scrollLeft;
}

let waiting = false;
list.addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; lanesBox.scrollLeft = list.scrollLeft; draw(false); });
}, {passive: true});
new ResizeObserver(() => { if (list.clientWidth) { layOutLanes(); draw(true); } }).observe(list);

// --- choosing ----------------------------------------------------------------------------------------------------

const isOpen = () => detail.classList.contains("open");
/// Beside the ladder, what is chosen is shown while the reader has something open.
function choose(at, {open = isOpen() && !isNarrow(), center = false} = {}) {
  if (!ladder.items.length) return;
  ladder.chosen = Math.max(0, Math.min(ladder.items.length - 1, at));
  const height = rowHeight(), top = ladder.chosen * height;
  if (center || top < list.scrollTop || top + height > list.scrollTop + list.clientHeight)
    list.scrollTop = center ? top - list.clientHeight / 2 : top < list.scrollTop ? top : top + height - list.clientHeight;
  draw(true);
  if (open) showItem(ladder.items[ladder.chosen]);
}
function showItem(item) {
  if (item >= foldBase) showFold(`${count(foldText(ladder.folds[item - foldBase]).count)} frames folded`);
  else if (item < 0) showChange(states[-item - 1]);
  else showFrame(item);
  detail.classList.add("open");
  keepInSight();
}
/// On a phone the fields cover the ladder from below: what is chosen stays in the part above them.
function keepInSight() {
  const covered = isNarrow() && isOpen() ? detail.offsetHeight : 0;
  list.style.paddingBottom = covered ? `${covered}px` : "";
  if (!covered) return;
  const top = ladder.chosen * rowHeight(), above = top + rowHeight() - Math.max(rowHeight(), list.offsetHeight - covered);
  if (top < list.scrollTop || above > list.scrollTop) list.scrollTop = Math.min(top, above);
}
function openFold(item) {
  const fold = ladder.folds[item - foldBase], frame = ladder.visible[fold.from];
  ladder.opened.add(fold.key);
  rebuild(frame);
  choose(ladder.place[frame]);
}
/// From anywhere: shows the ladder, takes away what hides the frame.
function chooseFrame(i, options = {open: true, center: true}) {
  showView("ladder");
  if (!hasLane(i)) showPorts([...ports.shown, frames.from[i], frames.to[i]]);
  if (ladder.place[i] < 0) {
    ladder.hiddenKinds.clear();
    setFilter("");
    drawKinds();
  }
  const item = ladder.items[ladder.place[i]];
  if (item >= foldBase) {
    ladder.opened.add(ladder.folds[item - foldBase].key);
    rebuild(i);
  }
  choose(ladder.place[i], options);
}
function activate() {
  const item = ladder.items[ladder.chosen];
  if (item === undefined) return;
  if (item >= foldBase) return openFold(item);
  showItem(item);
  if (item >= 0) focusField(0);
}

list.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (!row) return;
  const at = Number(row.dataset.at), item = ladder.items[at];
  if (item >= foldBase) { ladder.chosen = at; openFold(item); } else choose(at, {open: true});
  list.focus({preventScroll: true});
});
list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
  const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9};
  if (event.key in steps) choose(ladder.chosen + steps[event.key]);
  else if (event.key === "Enter" || event.key === "ArrowRight") activate();
  else return;
  event.preventDefault();
});
list.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1 : -1);
}, {passive: false});

// --- filter, search, kinds, zoom ---------------------------------------------------------------------------------

function setFilter(text) {
  byId("filter").value = text;
  applyFilter();
}
function applyFilter() {
  const query = parseQuery(byId("filter").value);
  byId("filter").parentElement.classList.toggle("bad", query.wrong !== "");
  ladder.query = query.wrong ? {...ladder.query, wrong: query.wrong} : query;
  if (query.wrong) byId("filter-said").textContent = `not understood: ${query.wrong}`;
  else { rebuild(); choose(ladder.chosen, {open: false, center: true}); }
}
let typing = 0;
byId("filter").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(applyFilter, frames.count > 20000 ? 250 : 60); });
byId("filter").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  clearTimeout(typing);
  applyFilter();
  list.focus();
  event.preventDefault();
});

function countMatches() {
  if (!ladder.search) { byId("matches").textContent = ""; return; }
  let all = 0, hidden = 0;
  for (let i = 0; i < frames.count; ++i) {
    if (!ladder.search(i)) continue;
    ++all;
    if (ladder.place[i] < 0) ++hidden;
  }
  byId("matches").textContent = `${all > hidden ? `${count(all - hidden)} found` : "none"}${hidden ? `, ${count(hidden)} filtered out` : ""}`;
}
function setSearch(text) {
  const word = text.trim().toLowerCase();
  ladder.search = word ? isWord(word) : null;
  countMatches();
  draw(true);
}
/// To the next frame in that direction that is shown, in a fold too, and that `test` takes.
function jump(step, test) {
  const {visible} = ladder, here = frameOf(ladder.items[ladder.chosen]);
  let at = visible.indexOf(here), inFold = ladder.items[ladder.chosen] >= foldBase;
  if (at < 0) at = visible.findIndex((i) => i >= here) - (step > 0 ? 1 : 0);
  for (let n = 0; n < visible.length; ++n) {
    if (!inFold || step < 0) at = (at + step + visible.length) % visible.length;
    inFold = false;
    if (test(visible[at])) return chooseFrame(visible[at], {open: !isNarrow(), center: true});
  }
}
byId("search").addEventListener("input", () => setSearch(byId("search").value));
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && ladder.search) jump(event.shiftKey ? -1 : 1, ladder.search);
  else if (event.key === "Escape") list.focus();
  else return;
  event.preventDefault();
});
byId("next").addEventListener("click", () => ladder.search && jump(1, ladder.search));
byId("previous").addEventListener("click", () => ladder.search && jump(-1, ladder.search));

function drawKinds() {
  const tally = new Array(kinds.length).fill(0);
  for (let i = 0; i < frames.count; ++i) ++tally[frames.kind[i]];
  byId("kinds").innerHTML = kinds.map((kind, k) => (tally[k] === 0 ? "" : `<button type="button" class="chip k${k}" data-kind="${k}" aria-pressed="${!ladder.hiddenKinds.has(k)}"><i></i><span>${kind}</span><small>${count(tally[k])}</small></button>`)).join("");
}
byId("kinds").addEventListener("click", (event) => {
  const chip = event.target.closest("[data-kind]");
  if (!chip) return;
  const kind = Number(chip.dataset.kind);
  if (!ladder.hiddenKinds.delete(kind)) ladder.hiddenKinds.add(kind);
  chip.setAttribute("aria-pressed", String(!ladder.hiddenKinds.has(kind)));
  rebuild();
});

function setFold(on) {
  ladder.foldsLong = on;
  ladder.opened.clear();
  byId("fold").setAttribute("aria-pressed", String(on));
  rebuild();
  choose(ladder.chosen, {center: true});
}
byId("fold").addEventListener("click", () => setFold(!ladder.foldsLong));
function zoom(step) {
  const next = Math.max(0, Math.min(rowHeights.length - 1, ladder.zoom + step));
  if (next === ladder.zoom) return;
  const height = rowHeight(), middle = (ladder.chosen * height - list.scrollTop);
  ladder.zoom = next;
  rowsBox.style.height = ladder.items.length * rowHeight() + "px";
  list.scrollTop = ladder.chosen * rowHeight() - middle;
  draw(true);
}
byId("zoom-in").addEventListener("click", () => zoom(1));
byId("zoom-out").addEventListener("click", () => zoom(-1));
byId("states-of").addEventListener("change", () => { followStates(); draw(true); });

function beginLadder() {
  if (endpointNames.length > 1) {
    byId("states-of-field").hidden = false;
    byId("states-of").innerHTML = `<option value="">latest to change</option>` + endpointNames.map((name) => `<option>${html(name)}</option>`).join("");
  }
  makePicker(byId("ladder-ports"));
  ports.changed.push(() => { rebuild(); choose(ladder.chosen, {open: false, center: true}); });
  drawKinds();
  rebuild(0);
}

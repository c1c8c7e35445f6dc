// One frame: its fields beside its bytes. The field under the pointer, or with the focus, marks its bytes, and a byte
// its field.
const detail = byId("detail");
const shown = {frame: -1, fields: [], bytes: null};

function flattened(fields, depth, out) {
  for (const field of fields) {
    out.push({...field, depth});
    flattened(field.fields, depth + 1, out);
  }
  return out;
}

function treeHtml(fields) {
  return fields.map((field, k) => {
    const label = field.name + (field.value ? ": " + field.value : "");
    return `<li role="treeitem" aria-level="${field.depth + 1}" tabindex="${k ? -1 : 0}" data-k="${k}" style="--d:${field.depth}"` +
      `${field.depth ? "" : ' class="top-field"'} aria-label="${html(label)}"><span>${html(field.name || "·")}</span><span class="v">${html(field.value)}</span></li>`;
  }).join("");
}

function hexHtml(bytes, size) {
  const wide = isNarrow() ? 8 : 16, lines = [];
  for (let at = 0; at < bytes.length; at += wide) {
    let hex = "", text = "";
    for (let k = at; k < at + wide; ++k) {
      if (k % 8 === 0 && k > at) hex += '<span class="gap"></span>';
      if (k >= bytes.length) { hex += "   "; continue; }
      const byte = bytes[k];
      hex += `<i data-b="${k}">${byte.toString(16).padStart(2, "0")}</i> `;
      text += `<i class="a" data-b="${k}">${html(byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")}</i>`;
    }
    lines.push(`<div><span class="o">${at.toString(16).padStart(4, "0")}</span>${hex} ${text}</div>`);
  }
  const missing = size - bytes.length;
  if (missing > 0) lines.push(`<div class="dim">… ${count(missing)} more bytes that the page does not have</div>`);
  return lines.join("");
}

function jumpsHtml(i) {
  const jumps = [];
  const jump = (row, words) => jumps.push(`<button class="link" data-frame="${row}">${html(words)}</button>`);
  const filter = (query, words) => jumps.push(`<button class="link" data-query="${query}">${html(words)}</button>`);
  const request = frames.request[i] ? frameNumbered(frames.request[i]) : -1;
  if (request >= 0) jump(request, `request: frame ${frames.number[request]}` + (frames.answer_time[i] >= 0 ? `, ${duration(frames.answer_time[i])} before` : ""));
  const answer = answerOf(i);
  if (answer >= 0) jump(answer, `answer: frame ${frames.number[answer]}`);
  if (frames.connection[i]) filter(`connection:${frames.connection[i]}`, `connection ${frames.connection[i]}`);
  if (frames.exchange[i]) filter(`exchange:${frames.exchange[i]}`, `exchange ${frames.exchange[i]}`);
  if (frames.message[i]) filter(`message:${frames.message[i]}`, `message ${frames.message[i]}`);
  return jumps.length ? `<div class="jumps">${jumps.join("")}</div>` : "";
}

/// Rows that fired at its ends when it left and when it arrived. What a service sends is seen where it arrives.
function rowsOfFrameHtml(i) {
  const ends = [frames.lane[frames.from[i]].service ? [frames.to[i], frames.at[i], "arrived"] : [frames.from[i], frames.at[i], "sent"]];
  if (frames.took[i] >= 0 && frames.from[i] !== frames.to[i]) ends.push([frames.to[i], frames.at[i] + frames.took[i], "arrived"]);
  const items = ends.flatMap(([lane, at, when]) => {
    const place = placeOfLane(lane);
    return place < 0 ? [] : rowsAt(place, at).map((row) => `<li><b>${html(frames.lane[lane].title)}</b> ${when}: <span class="mono">${html(row.machine)}</span> ${html(row.source)} + ${html(row.event)}${row.target === row.source ? "" : ` → ${html(row.target)}`} <b>${html(row.clause)}</b></li>`);
  });
  return items.length ? `<details class="rows-of"><summary>${count(items.length)} ${items.length === 1 ? "row" : "rows"} of state machines fired then</summary><ul>${items.slice(0, 60).join("")}</ul></details>` : "";
}

function showFrame(i) {
  shown.frame = i;
  shown.bytes = bytesOf(i);
  shown.fields = flattened(fieldsOf(i), 0, []);
  const from = frames.lane[frames.from[i]].title, to = frames.lane[frames.to[i]].title;
  const took = frames.took[i] >= 0 ? `, arrived ${duration(frames.took[i])} later` : "";
  const said = remarksOf(i).map((remark) => `<p class="remark${remark.what === "note" ? " note" : ""}">${remark.name ? `<b>${html(remark.name)}</b> ` : ""}${html(remark.text)}</p>`).join("");
  detail.innerHTML = `<div class="head"><h2><span class="k${frames.kind[i]}">${html(textFrame(i))}</span><button class="tool close" aria-label="Close">×</button></h2>` +
    `<p>Frame ${frames.number[i]} · ${clock(frames.at[i]).join(" ")} s · ${html(from)} → ${html(to)}${took} · ${count(frames.size[i])} bytes</p>${said}${jumpsHtml(i)}</div>` +
    rowsOfFrameHtml(i) + `<div class="parts"><ul class="tree" role="tree" aria-label="Fields">${treeHtml(shown.fields)}</ul>` +
    `<div class="hex-box"><div class="hex-said" role="status"><span>Point at a field to see its bytes, at a byte to see its field.</span></div>` +
    `<div class="hex" aria-label="Bytes" role="img">${hexHtml(shown.bytes, frames.size[i])}</div></div></div>`;
}

function showFold(text) {
  shown.frame = -1;
  detail.innerHTML = `<div class="head"><h2><span>${html(text)}</span><button class="tool close" aria-label="Close">×</button></h2><p>Enter, or a click, shows the frames.</p></div>`;
}
function showChange(change) {
  shown.frame = -1;
  const row = rowOfChange(change);
  detail.innerHTML = `<div class="head"><h2><span>${html(change.port)}: ${html(stateWords(change.from))} → ${html(stateWords(change.to))}</span><button class="tool close" aria-label="Close">×</button></h2>` +
    `<p>${clock(change.at).join(" ")} s · connection ${html(change.connection)}</p>` +
    (row ? `<p>Row of <b>${html(row.machine)}</b>: ${html(row.source)} + ${html(row.event)} → ${html(row.target)}, <b>${html(row.clause)}</b></p>` : "") + `</div>`;
}

/// The part of a field in its bytes: "0000 0[001]".
function bitsHtml(field) {
  if (!field.mask || field.bytes > 4) return "";
  let text = "";
  for (let bit = field.bytes * 8 - 1; bit >= 0; --bit) {
    const at = field.offset + field.bytes - 1 - (bit >> 3), on = Math.floor(field.mask / 2 ** bit) % 2 === 1;
    const value = at < shown.bytes.length ? (shown.bytes[at] >> (bit & 7)) & 1 : "·";
    text += on ? `<b>${value}</b>` : value;
    if (bit % 4 === 0 && bit) text += " ";
  }
  return ` · bits <code>${text}</code>`;
}

function mark(k) {
  for (const old of detail.querySelectorAll(".on")) old.classList.remove("on");
  const said = detail.querySelector(".hex-said");
  if (k === null || !said) return;
  const field = shown.fields[k];
  detail.querySelector(`li[data-k="${k}"]`).classList.add("on");
  const name = `<b>${html(field.name || "·")}</b>`;
  if (!field.bytes) {
    said.innerHTML = name + (field.fields.length ? "" : " · found out by the decoder, or without a fixed place in the frame");
    return;
  }
  said.innerHTML = `${name} · ${field.bytes === 1 ? "byte" : field.bytes + " bytes"} at ${field.offset}${bitsHtml(field)}`;
  const marked = [];
  for (let at = field.offset; at < field.offset + field.bytes; ++at) marked.push(...detail.querySelectorAll(`[data-b="${at}"]`));
  for (const byte of marked) byte.classList.add("on");
  if (marked.length) {
    const box = detail.querySelector(".hex"), top = marked[0].offsetTop - box.offsetTop;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 20) box.scrollTop = top - 20;
  }
}

/// The smallest field that holds the byte; of those that share it the first.
function fieldAt(byte) {
  let best = null;
  shown.fields.forEach((field, k) => {
    const holds = field.bytes && byte >= field.offset && byte < field.offset + field.bytes;
    if (holds && (best === null || field.bytes < shown.fields[best].bytes)) best = k;
  });
  return best;
}

detail.addEventListener("mouseover", (event) => {
  const field = event.target.closest("[data-k]"), byte = event.target.closest("[data-b]");
  if (field) mark(Number(field.dataset.k));
  if (!byte) return;
  const k = fieldAt(Number(byte.dataset.b));
  mark(k);
  if (k !== null) detail.querySelector(`li[data-k="${k}"]`).scrollIntoView({block: "nearest"});
});
detail.addEventListener("focusin", (event) => {
  if (event.target.dataset.k !== undefined) mark(Number(event.target.dataset.k));
});
function focusField(k) {
  const items = detail.querySelectorAll(".tree li");
  if (!items.length) return;
  const item = items[Math.max(0, Math.min(items.length - 1, k))];
  for (const other of items) other.tabIndex = other === item ? 0 : -1;
  item.focus();
}
detail.addEventListener("keydown", (event) => {
  const at = event.target.dataset.k === undefined ? -1 : Number(event.target.dataset.k);
  const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e6, End: 1e6};
  if (at >= 0 && event.key in steps) focusField(at + steps[event.key]);
  else if (event.key === "Escape" || (at >= 0 && event.key === "ArrowLeft")) leaveDetail();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
/// On a phone it covers the ladder.
function leaveDetail() {
  if (isNarrow()) closeDetail(); else byId("ladder-list").focus();
}
function closeDetail() {
  detail.classList.remove("open");
  keepInSight();
  byId("ladder-list").focus();
}
detail.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) {
    const field = event.target.closest("[data-k]");
    if (field) focusField(Number(field.dataset.k));
  } else if (button.classList.contains("close")) closeDetail();
  else if (button.dataset.frame) chooseFrame(Number(button.dataset.frame));
  else if (button.dataset.query) setFilter(button.dataset.query);
});

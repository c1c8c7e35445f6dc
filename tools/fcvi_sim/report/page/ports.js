// Which ports are shown: their lanes in the ladder, their curves among the plots. All, or where they are many the most
// talkative ones; the reader chooses others.
const allShownUpTo = 10, shownFirst = 8, listedAtOnce = 200;
const ports = {shown: new Set(), talk: new Float64Array(frames.lane.length), order: [], changed: []};

for (let i = 0; i < frames.count; ++i) {
  ++ports.talk[frames.from[i]];
  if (frames.to[i] !== frames.from[i]) ++ports.talk[frames.to[i]];
}
ports.order = frames.lane.map((_, lane) => lane).filter((lane) => ports.talk[lane] > 0).sort((a, b) => ports.talk[b] - ports.talk[a] || a - b);
const mostTalkative = () => ports.order.slice(0, ports.order.length <= allShownUpTo ? allShownUpTo : shownFirst);
ports.shown = new Set(mostTalkative());
const arePortsHidden = () => ports.shown.size < ports.order.length;
const isPortShown = (lane) => ports.shown.has(lane);

function portsWords() {
  const hidden = ports.order.length - ports.shown.size;
  return hidden ? `${count(ports.shown.size)} of ${count(ports.order.length)}` : `all ${count(ports.order.length)}`;
}
function portListHtml(text) {
  const word = text.trim().toLowerCase();
  const found = ports.order.filter((lane) => `${frames.lane[lane].title} ${frames.lane[lane].subtitle}`.toLowerCase().includes(word));
  const items = found.slice(0, listedAtOnce).map((lane) => `<label><input type="checkbox" data-lane="${lane}" aria-label="${html(frames.lane[lane].title)}"${isPortShown(lane) ? " checked" : ""}><span>${html(frames.lane[lane].title)}</span><small>${html(frames.lane[lane].subtitle)}</small><small class="n">${count(ports.talk[lane])}</small></label>`).join("");
  const more = found.length > listedAtOnce ? `<p class="dim">${count(found.length - listedAtOnce)} more: write a part of the name.</p>` : "";
  return items + more || `<p class="dim">No such port.</p>`;
}
/// A button that opens the list, most talkative first. Only where there is something to choose.
function makePicker(box) {
  box.hidden = ports.order.length < 3;
  box.innerHTML = `<summary class="tool wide">Ports: <span class="ports-said"></span></summary><div class="port-box" role="group" aria-label="Ports that are shown">` +
    `<input type="search" class="port-search" aria-label="Ports whose names have" placeholder="Name or address" autocomplete="off" spellcheck="false">` +
    `<p><button type="button" class="link" data-ports="all" aria-label="Show all ports">all</button><button type="button" class="link" data-ports="most" aria-label="Show the most talkative ports">most talkative</button><button type="button" class="link" data-ports="none" aria-label="Show no port">none</button><span class="dim">frames</span></p><div class="port-list"></div></div>`;
  const search = box.querySelector(".port-search"), list = box.querySelector(".port-list");
  const redraw = () => {
    box.querySelector(".ports-said").textContent = portsWords();
    if (box.open) list.innerHTML = portListHtml(search.value);
  };
  box.addEventListener("toggle", () => {
    redraw();
    if (!box.open) return;
    const list = box.querySelector(".port-box");
    list.style.left = "0";
    list.style.left = `${Math.min(0, document.documentElement.clientWidth - 8 - list.getBoundingClientRect().right)}px`;  // on the screen
    search.focus();
  });
  search.addEventListener("input", redraw);
  box.addEventListener("change", (event) => {
    if (event.target.dataset.lane === undefined) return;
    const lane = Number(event.target.dataset.lane);
    if (event.target.checked) ports.shown.add(lane); else ports.shown.delete(lane);
    portsChanged(box);
  });
  box.addEventListener("click", (event) => {
    const which = event.target.dataset.ports;
    if (which) showPorts(which === "all" ? ports.order : which === "most" ? mostTalkative() : []);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    box.open = false;
    box.querySelector("summary").focus();
    event.preventDefault();
    event.stopPropagation();
  });
  ports.changed.push((from) => { if (from === box) box.querySelector(".ports-said").textContent = portsWords(); else redraw(); });
  redraw();
}
function showPorts(lanes) {
  ports.shown = new Set(lanes);
  portsChanged(null);
}
function portsChanged(from) { for (const tell of ports.changed) tell(from); }
document.addEventListener("click", (event) => {
  for (const box of document.querySelectorAll("details.picker[open]")) if (!box.contains(event.target) && event.target.isConnected) box.open = false;
});

// The data of the page. Frames are columns: frame i is the i-th entry of each.
const byId = (id) => document.getElementById(id);
const textOf = (id) => byId(id).textContent;
const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};
const html = (text) => String(text).replace(/[&<>"']/g, (c) => escapes[c]);
const count = (number) => number.toLocaleString("en-US").replace(/,/g, " ");
const isNarrow = () => window.innerWidth <= 760;

const kinds = ["login", "naming", "setup", "data", "response", "teardown", "abort", "ack", "other"];
const flag = {lost: 1, fault: 2, violation: 4, first: 8, last: 16, retry: 32, note: 64};

const head = JSON.parse(textOf("head"));
const frames = JSON.parse(textOf("frames"));
frames.count = frames.number.length;
frames.at = new Float64Array(frames.count);  // nanoseconds
for (let i = 0, at = 0; i < frames.count; ++i) frames.at[i] = at += frames.step[i];
frames.lane = frames.lanes.map(([title, subtitle, service]) => ({title, subtitle, service: service === 1}));
const textFrame = (i) => frames.texts[frames.text[i]];
const nameFrame = (i) => frames.texts[frames.name[i]];
const has = (i, bit) => (frames.flags[i] & bit) !== 0;

/// The frame with that number of the capture; -1: it is not in the page, or a copy.
function frameNumbered(number) {
  let low = 0, high = frames.count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (frames.number[middle] === number) return middle;
    if (frames.number[middle] < number) low = middle + 1; else high = middle - 1;
  }
  return -1;
}

/// Remarks by frame: {what, text, rule, name}; what is "fault", "note", or the violation that `name` has, too.
const isComment = (what) => what === "fault" || what === "note";
const remarks = new Map();
for (const [i, what, text, rule] of frames.remarks) {
  if (!remarks.has(i)) remarks.set(i, []);
  remarks.get(i).push({what, text, rule, name: isComment(what) ? "" : what});
}
const isUnusual = (i) => (frames.flags[i] & (flag.lost | flag.fault | flag.violation)) !== 0;
const remarksOf = (i) => remarks.get(i) || [];

/// Answers by the frame that they answer, made when first asked for.
let answers = null;
function answerOf(i) {
  if (!answers) {
    answers = new Map();
    for (let k = frames.count - 1; k >= 0; --k) if (frames.request[k]) answers.set(frames.request[k], k);
  }
  const found = answers.get(frames.number[i]);
  return found === undefined ? -1 : found;
}

/// What is long and asked for frame by frame is taken apart when it is first needed.
const later = {};
const linesOf = (id) => later[id] || (later[id] = textOf(id).split("\n"));
function fieldsOf(i) {
  const lists = linesOf("field_lists");
  return linesOf("lists_of_frames")[i].split(",").map((number) => {
    const [shape, ...values] = JSON.parse(lists[number]);
    let at = 0;
    const take = ([name, offset = 0, bytes = 0, mask = 0, below = []]) =>
      ({name, offset, bytes, mask, value: values[at++], fields: below.map(take)});
    return take(frames.shapes[shape]);
  });
}
function bytesOf(i) {
  if (!later.starts) {
    later.starts = new Float64Array(frames.count + 1);
    for (let k = 0; k < frames.count; ++k) later.starts[k + 1] = later.starts[k] + frames.kept[k];
    later.base64 = textOf("bytes");
  }
  const start = later.starts[i], end = later.starts[i + 1];
  const piece = later.base64.slice(Math.floor(start / 3) * 4, Math.ceil(end / 3) * 4);
  const binary = atob(piece), skip = start % 3;
  return Uint8Array.from({length: end - start}, (_, k) => binary.charCodeAt(k + skip));
}

/// "1.234 ms": three digits behind the point.
function duration(ns) {
  const size = Math.abs(ns);
  const [unit, per] = size < 1e3 ? ["ns", 1] : size < 1e6 ? ["µs", 1e3] : size < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return (per === 1 ? ns : (ns / per).toFixed(3)) + " " + unit;
}
function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return (unit === 0 || Number.isInteger(bytes) ? bytes : bytes.toFixed(1)) + " " + units[unit];
}
/// Seconds, milli-, micro- and nanoseconds: groups of digits that line up.
function clock(ns) {
  const sign = ns < 0 ? "-" : "", digits = Math.abs(Math.round(ns)).toString().padStart(10, "0");
  const seconds = digits.slice(0, -9);
  return [sign + seconds + "." + digits.slice(-9, -6), digits.slice(-6, -3), digits.slice(-3)];
}

/// How a state is coloured.
function stateClass(state) {
  if (/error/i.test(state)) return "s-error";
  if (/disconnect/i.test(state)) return "s-leaving";
  if (/pending|wait|retry|connect.*(rqst|resp)/i.test(state)) return "s-pending";
  if (/connected/i.test(state)) return "s-connected";
  return "s-idle";
}
const stateWords = (state) => state.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
const states = (head.states || []).map((change, index) => ({...change, index}));
const rowsFired = head.rows ? head.rows.fired.map(([at, port, row]) => {
  const [machine, source, event, target, clause] = head.rows.tables[row];
  return {at, port: head.ports[port], machine, source, event, target, clause};
}) : [];
const endpointNames = [...new Set(states.map((change) => change.connection))];

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
const frames = JSON.parse(unpack(textOf("frames")));
/// Of steps, each from the number before.
function summed(steps) {
  const sums = new Float64Array(steps.length);
  for (let i = 0, sum = 0; i < sums.length; ++i) sums[i] = sum += steps[i];
  return sums;
}
frames.count = frames.number.length;
frames.at = summed(frames.step);  // nanoseconds
frames.number = summed(frames.number);
frames.text = summed(frames.text);
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

// What is long and asked for frame by frame comes in pieces, which are taken apart when they are first needed.
const framesInPiece = 1000, listsInPiece = 4000, headerBytes = 64, piecesKept = 64;
function pieces(id, open) {
  let packed = null;
  const opened = new Map();
  return (k) => {
    packed = packed || textOf(id).split("\n");
    if (!opened.has(k)) {
      if (opened.size === piecesKept) opened.delete(opened.keys().next().value);
      opened.set(k, open(inflate(bytesOfBase64(packed[k])), k));
    }
    return opened.get(k);
  };
}
const textIn = (bytes) => new TextDecoder().decode(bytes);

/// Lists of fields by shape: where among those of its shape each stands.
const listPiece = pieces("field_lists", (bytes) => {
  const {shapes, columns} = JSON.parse(textIn(bytes)), seen = new Map();
  const place = shapes.map((shape) => { const at = seen.get(shape) || 0; seen.set(shape, at + 1); return at; });
  return {shapes, columns, place};
});
/// The lists of each frame; no number: the next new one.
const numberPiece = pieces("lists_of_frames", (bytes) => {
  const [first, ...lines] = textIn(bytes).split("\n");
  let next = Number(first);
  return lines.map((line) => line.split(",").map((number) => (number === "" ? next++ : Number(number))));
});
const bytesPiece = pieces("bytes", (bytes, k) => {
  const before = new Map(), frame = [];
  for (let i = k * framesInPiece, at = 0; i < Math.min(frames.count, (k + 1) * framesInPiece); ++i) {
    const own = bytes.subarray(at, at += frames.kept[i]), other = before.get(own.length);
    if (other) for (let b = 0; b < Math.min(headerBytes, own.length); ++b) own[b] += other[b];
    before.set(own.length, own);
    frame.push(own);
  }
  return frame;
});
function fieldsOf(i) {
  return numberPiece(Math.floor(i / framesInPiece))[i % framesInPiece].map((number) => {
    const {shapes, columns, place} = listPiece(Math.floor(number / listsInPiece)), k = number % listsInPiece, values = columns[shapes[k]];
    let at = 0;
    const take = ([name, offset = 0, bytes = 0, mask = 0, below = []]) =>
      ({name, offset, bytes, mask, value: values[at++][place[k]], fields: below.map(take)});
    return take(frames.shapes[shapes[k]]);
  });
}
const bytesOf = (i) => bytesPiece(Math.floor(i / framesInPiece))[i % framesInPiece];

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
const endpointNames = [...new Set(states.map((change) => change.connection))];

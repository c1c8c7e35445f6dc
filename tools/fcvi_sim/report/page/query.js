// The language of the filter: terms that must all hold; docs/report.md and the help of the page list them.
function splitTerms(text) {
  return (text.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|[^\s"]+)/gi) || []).map((term) => {
    const not = term.length > 1 && term.startsWith("-");
    const [, key, value] = /^(?:([a-z]+):)?(.*)$/is.exec(not ? term.slice(1) : term);
    return {not, key: (key || "").toLowerCase(), value: value.replace(/"/g, "")};
  });
}

function timeOf(text, otherwise) {
  if (text === "") return otherwise;
  const found = /^([0-9.]+)(ns|us|µs|ms|s)?$/.exec(text);
  if (!found) return NaN;
  return Number(found[1]) * ({ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9}[found[2] || "s"]);
}
function rangeOf(value, read) {
  const [low, high] = value.includes("-") ? value.split("-") : [value, value];
  const range = [read(low, -Infinity), read(high, Infinity)];
  return range.some(Number.isNaN) ? null : range;
}
const numberOf = (text, otherwise) => (text === "" ? otherwise : /^\d+$/.test(text) ? Number(text) : NaN);

/// Whether each text of the table holds the word: a text is looked at once, however many frames have it.
function textsWith(word, holds) {
  const known = new Int8Array(frames.texts.length);
  return (number) => {
    if (known[number] === 0) known[number] = holds(frames.texts[number].toLowerCase(), word) ? 1 : -1;
    return known[number] === 1;
  };
}

const contains = (text, word) => text.includes(word);
const begins = (text, word) => text.startsWith(word);
function isWord(word) {
  const found = textsWith(word, contains);
  return (i) => found(frames.text[i]) || (remarks.has(i) && remarksOf(i).some((remark) => (remark.name + " " + remark.text).toLowerCase().includes(word)));
}
function isColumn(column) {
  return (value) => {
    const range = rangeOf(value, numberOf);
    return range && ((i) => column[i] >= range[0] && column[i] <= range[1]);
  };
}
function isLane(...columns) {
  return (value) => {
    const fits = frames.lane.map((lane) => (lane.title + " " + lane.subtitle).toLowerCase().includes(value));
    return value === "" ? null : (i) => columns.some((column) => fits[column[i]]);
  };
}
const termKinds = {
  "": isWord,
  connection: isColumn(frames.connection), c: isColumn(frames.connection),
  exchange: isColumn(frames.exchange), message: isColumn(frames.message), frame: isColumn(frames.number),
  port: isLane(frames.from, frames.to), from: isLane(frames.from), to: isLane(frames.to),
  name: (value) => {
    const found = textsWith(value, begins);
    return (i) => found(frames.name[i]);
  },
  kind: (value) => (kinds.includes(value) ? (i) => kinds[frames.kind[i]] === value : null),
  is: (value) => (Object.hasOwn(flag, value) ? (i) => has(i, flag[value]) : null),
  time: (value) => {
    const range = rangeOf(value, timeOf);
    return range && ((i) => frames.at[i] >= range[0] && frames.at[i] <= range[1]);
  },
};

/// How many letters must be put in, left out or changed.
function distance(one, other) {
  let row = Array.from({length: other.length + 1}, (_, k) => k);
  for (let i = 1; i <= one.length; ++i) {
    const next = [i];
    for (let k = 1; k <= other.length; ++k) next[k] = Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (one[i - 1] === other[k - 1] ? 0 : 1));
    row = next;
  }
  return row[other.length];
}
const nearest = (word, words) => words.reduce((best, one) => (distance(word, one) < distance(word, best) ? one : best));
const termKeys = Object.keys(termKinds).filter((key) => key.length > 1), termValues = {__proto__: null, kind: kinds, is: Object.keys(flag)};

/// What is said of a term that is not understood: which, and what may be meant.
function wrongWords(key, value) {
  const term = `${key}:${value}`;
  if (!Object.hasOwn(termKinds, key)) return `${term} has no such key; did you mean ${nearest(key, termKeys)}:? The words themselves stand in quotes`;
  if (termValues[key]) return `${term}; did you mean ${key}:${nearest(value.toLowerCase(), termValues[key])}?`;
  return value === "" ? `${term} needs a value` : `${term} needs ${key === "time" ? "times such as 1ms-2ms" : "numbers such as 3 or 10-20"}`;
}

/// {test, wrong}: a predicate of frames, or what is said of the term that is not understood.
function parseQuery(text) {
  const tests = [];
  for (const {not, key, value} of splitTerms(text)) {
    const test = Object.hasOwn(termKinds, key) ? termKinds[key](value.toLowerCase()) : null;
    if (!test) return {test: null, wrong: wrongWords(key, value)};
    tests.push(not ? (i) => !test(i) : test);
  }
  return {test: (i) => tests.every((holds) => holds(i)), wrong: "", isEmpty: tests.length === 0};
}

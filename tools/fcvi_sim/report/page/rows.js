// Rows of the tables that fired in a run, and what it measured: long, and not needed to open the page.
const places = (head.places || []).map(([name, lane]) => ({name, lane}));
const placeNamed = new Map(places.map(({name}, k) => [name, k]));
/// Tables of which more rows fired, with each message or frame, are listed when they are asked for.
const busyFrom = 1000;

/// Columns in the order of time, and the tables' rows that they name.
const rowLog = (() => {
  let log = null;
  return () => {
    if (log) return log;
    const {tables, step, place, row} = JSON.parse(unpack(textOf("rows")) || '{"tables":[],"step":[],"place":[],"row":[]}');
    const named = tables.map(([machine, source, event, target, clause, times, kept]) => ({machine, source, event, target, clause, times, kept}));
    const byMachine = new Map();
    for (const row of named) byMachine.set(row.machine, (byMachine.get(row.machine) || 0) + row.times);
    const busy = [...byMachine.keys()].filter((machine) => byMachine.get(machine) > busyFrom);
    log = {tables: named, byMachine, busy: busy.length < byMachine.size ? busy.sort() : [], count: step.length, at: summed(step), place: Uint16Array.from(place), row: Uint16Array.from(row)};
    return log;
  };
})();
/// The first that fired at that time or later.
function firstRowAt(at) {
  const log = rowLog();
  let low = 0, high = log.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (log.at[middle] < at) low = middle + 1; else high = middle;
  }
  return low;
}
/// The rows that fired at that place and time.
function rowsAt(place, at) {
  const log = rowLog(), found = [];
  for (let k = firstRowAt(at); k < log.count && log.at[k] === at; ++k) if (log.place[k] === place) found.push(log.tables[log.row[k]]);
  return found;
}
const placeOfLane = (lane) => places.findIndex((place) => place.lane === lane);

/// The row of vi_endpoint's table that made the change: at that port and time, into that state, or one that counts as it
/// (Disconnecting is the state Error of VI-ARCH).
function rowOfChange(change) {
  const there = rowsAt(placeNamed.get(change.port), change.at).filter((row) => row.machine === "vi_endpoint");
  return there.find((row) => row.target === change.to) || there[there.length - 1] || null;
}

const measuredSeries = (() => {
  let all = null;
  return () => {
    if (!all) all = JSON.parse(unpack(textOf("series")) || "[]").map(({step, ...one}) => ({...one, at: summed(step)}));
    return all;
  };
})();

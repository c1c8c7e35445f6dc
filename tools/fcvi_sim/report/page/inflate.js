// What the page's data are packed with: DEFLATE (RFC 1951) in base64. Browsers' own DecompressionStream answers later only,
// and not all have one; the ladder wants a frame's bytes when it is clicked.
function bytesOfBase64(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; ++k) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

/// Of canonical Huffman codes, by the next bits of the input: symbol << 4 | length of its code.
function codeTable(lengths) {
  const longest = Math.max(1, ...lengths), counts = new Uint16Array(17), next = new Uint16Array(17);
  for (const length of lengths) if (length) ++counts[length + 1];
  for (let length = 1, code = 0; length <= 16; ++length) next[length] = code = (code + counts[length]) << 1;
  const table = new Uint16Array(1 << longest);
  lengths.forEach((length, symbol) => {
    if (!length) return;
    let reversed = 0;
    for (let bit = 0, code = next[length]++; bit < length; ++bit) reversed = reversed << 1 | (code >> bit & 1);
    for (let at = reversed; at < table.length; at += 1 << length) table[at] = symbol << 4 | length;
  });
  return {table, mask: table.length - 1};
}

const deflateTables = (() => {
  const base = (first, extra) => extra.reduce((out, bits) => [...out, out[out.length - 1] + (1 << bits)], [first]);
  const lengthBits = [...Array(28)].map((_, k) => (k < 8 ? 0 : (k >> 2) - 1)).concat(0), distanceBits = [...Array(30)].map((_, k) => (k < 4 ? 0 : (k >> 1) - 1));
  const lengthBase = base(3, lengthBits);
  lengthBase[28] = 258;
  const fixed = [...Array(288)].map((_, k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8));
  return {lengthBits, distanceBits, lengthBase, distanceBase: base(1, distanceBits), order: [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15],
    literals: codeTable(fixed), distances: codeTable(Array(30).fill(5))};
})();

const damaged = () => new Error("the data of this page are damaged");
function inflate(input) {
  const {lengthBits, distanceBits, lengthBase, distanceBase, order} = deflateTables;
  let out = new Uint8Array(Math.max(1024, input.length * 6)), size = 0, at = 0, hold = 0, held = 0;
  const fill = () => { while (held < 16) { hold |= (at < input.length ? input[at] : 0) << held; ++at; held += 8; } };
  const take = (count) => {
    if (held < count) fill();
    const bits = hold & ((1 << count) - 1);
    hold >>>= count;
    held -= count;
    return bits;
  };
  const symbol = ({table, mask}) => {
    if (held < 15) fill();
    const entry = table[hold & mask], length = entry & 15;
    if (!length) throw damaged();
    hold >>>= length;
    held -= length;
    return entry >> 4;
  };
  const grow = (more) => {
    if (size + more <= out.length) return;
    const larger = new Uint8Array(Math.max(size + more, out.length * 2));
    larger.set(out.subarray(0, size));
    out = larger;
  };
  const readTables = () => {
    const literalCount = take(5) + 257, distanceCount = take(5) + 1, orderCount = take(4) + 4, short = Array(19).fill(0), lengths = [];
    for (let k = 0; k < orderCount; ++k) short[order[k]] = take(3);
    const codes = codeTable(short);
    while (lengths.length < literalCount + distanceCount) {
      const code = symbol(codes);
      if (code < 16) { lengths.push(code); continue; }
      const value = code === 16 ? lengths[lengths.length - 1] : 0;
      for (let times = code === 16 ? 3 + take(2) : code === 17 ? 3 + take(3) : 11 + take(7); times > 0; --times) lengths.push(value);
    }
    return [codeTable(lengths.slice(0, literalCount)), codeTable(lengths.slice(literalCount))];
  };
  const readStored = () => {
    take(held & 7);
    const length = take(16);
    take(16);
    while (held >= 8) { held -= 8; --at; }
    hold = held = 0;
    grow(length);
    out.set(input.subarray(at, at + length), size);
    size += length;
    at += length;
  };
  // Nearly all of the time goes here: the state is in local variables, and what is not needed stays in `bits`.
  const readBlock = (literals, distances) => {
    const {table, mask} = literals, {table: table2, mask: mask2} = distances;
    let bits = hold, n = held, from = at, to = size, room = out;
    for (;;) {
      while (n < 15) { bits |= input[from++] << n; n += 8; }
      const entry = table[bits & mask];
      bits >>>= entry & 15;
      n -= entry & 15;
      if (entry === 0 || from > input.length + 8) throw damaged();
      if (entry < 4096) {
        if (to === room.length) { size = to; grow(1); room = out; }
        room[to++] = entry >> 4;
        continue;
      }
      if (entry >> 4 === 256) break;
      const code = (entry >> 4) - 257, more = lengthBits[code];
      if (n < more) { bits |= input[from++] << n; n += 8; }
      const length = lengthBase[code] + (bits & ((1 << more) - 1));
      bits >>>= more;
      n -= more;
      while (n < 15) { bits |= input[from++] << n; n += 8; }
      const far = table2[bits & mask2], extra = distanceBits[far >> 4];
      bits >>>= far & 15;
      n -= far & 15;
      while (n < extra) { bits |= input[from++] << n; n += 8; }
      const back = distanceBase[far >> 4] + (bits & ((1 << extra) - 1));
      bits >>>= extra;
      n -= extra;
      if (!(back <= to)) throw damaged();
      if (to + length > room.length) { size = to; grow(length); room = out; }
      for (let end = to + length; to < end; ++to) room[to] = room[to - back];
    }
    hold = bits; held = n; at = from; size = to;
  };
  for (let last = 0; !last;) {
    if (at > input.length + 8) throw damaged();
    last = take(1);
    const type = take(2);
    if (type === 0) readStored();
    else readBlock(...(type === 1 ? [deflateTables.literals, deflateTables.distances] : readTables()));
  }
  return out.subarray(0, size);
}
/// What an element holds, as text.
const unpack = (packed) => new TextDecoder().decode(inflate(bytesOfBase64(packed)));

-- ---- CRC of a frame (FC-FS: that of IEEE 802.3) -----------------------------------------------------------------------
-- For passes in which Wireshark makes no items, and so does not say whether a CRC is right. 16 bits a step: some 70 us for the
-- longest frame.
local crc = {}

do
  local band, bxor, rshift = bit32.band, bit32.bxor, bit32.rshift
  local words_at_once = 32
  local format = "<" .. ("I4"):rep(words_at_once)
  local byte, low, high  -- of one byte; of the lower and the upper half of a word

  local function prepare()
    local tables = {}
    for k = 0, 3 do tables[k] = {} end
    for i = 0, 255 do
      local value = i
      for _ = 1, 8 do value = bxor(rshift(value, 1), band(value, 1) * 0xEDB88320) end
      tables[0][i] = value
    end
    byte = tables[0]
    for k = 1, 3 do
      for i = 0, 255 do
        local before = tables[k - 1][i]
        tables[k][i] = bxor(rshift(before, 8), byte[band(before, 255)])
      end
    end
    low, high = {}, {}
    for i = 0, 65535 do
      local lower = band(i, 255)
      local upper = rshift(i, 8)
      low[i], high[i] = bxor(tables[3][lower], tables[2][upper]), bxor(tables[1][lower], tables[0][upper])
    end
  end

  function crc.of(bytes)
    if not byte then prepare() end
    local value, at, length = 0xFFFFFFFF, 1, #bytes
    while at + 4 * words_at_once <= length + 1 do
      local words = {Struct.unpack(format, bytes, at)}
      value = bxor(value, words[1])
      for i = 2, words_at_once do
        local lower = value % 65536
        value = bxor(low[lower], high[(value - lower) / 65536], words[i])
      end
      local lower = value % 65536
      value = bxor(low[lower], high[(value - lower) / 65536])
      at = at + 4 * words_at_once
    end
    for i = at, length do value = bxor(rshift(value, 8), byte[band(bxor(value, bytes:byte(i)), 255)]) end
    return bxor(value, 0xFFFFFFFF)
  end
end

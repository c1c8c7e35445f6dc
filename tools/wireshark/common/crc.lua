-- ---- CRC-32 of octets, the least significant bit of each first, as Ethernet has it -----------------------------------
local crc = {}

do
  local band, bxor, rshift, byte = bit32.band, bit32.bxor, bit32.rshift, string.byte
  local step = 16  -- octets at once

  -- Of each octet of a step what it leaves behind the octets that follow it; tables[0]: of the last one.
  local function tables_of(generator)
    local tables = {}
    for k = 0, step - 1 do tables[k] = {} end
    for i = 0, 255 do
      local value = i
      for _ = 1, 8 do value = bxor(rshift(value, 1), band(value, 1) * generator) end
      tables[0][i] = value
    end
    for k = 1, step - 1 do
      for i = 0, 255 do
        local before = tables[k - 1][i]
        tables[k][i] = bxor(rshift(before, 8), tables[0][band(before, 255)])
      end
    end
    return tables
  end

  -- The same of both halves of what all octets before the step left.
  local function halves(tables)
    local low, high = {}, {}
    for i = 0, 65535 do
      local lower, upper = band(i, 255), rshift(i, 8)
      low[i], high[i] = bxor(tables[15][lower], tables[14][upper]), bxor(tables[13][lower], tables[12][upper])
    end
    return low, high
  end

  local function calculator(generator)
    local t = tables_of(generator)
    local low, high = halves(t)
    local t0, t1, t2, t3, t4, t5, t6, t7 = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
    local t8, t9, t10, t11, t12, t13, t14, t15 = t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]
    return function(octets)
      local value, length = 0xFFFFFFFF, #octets
      local whole = length - length % step
      for at = 1, whole, step do
        local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = byte(octets, at, at + 15)
        local lower = value % 65536
        value = bxor(low[lower], high[(value - lower) / 65536], t15[a], t14[b], t13[c], t12[d], t11[e], t10[f], t9[g], t8[h],
          t7[i], t6[j], t5[k], t4[l], t3[m], t2[n], t1[o], t0[p])
      end
      for at = whole + 1, length do value = bxor(rshift(value, 8), t0[band(bxor(value, byte(octets, at)), 255)]) end
      return bxor(value, 0xFFFFFFFF)
    end
  end

  -- A function from octets to their CRC. `generator`: with the bits in the order in which they are transmitted. Its tables
  -- are made when it is first called.
  function crc.new(generator)
    local of
    return function(octets)
      of = of or calculator(generator)
      return of(octets)
    end
  end
end

-- ---- bits: Lua 5.2 (Wireshark 4.0 to 4.2) has bit32, Lua 5.4 (since 4.4) operators that 5.2 does not even read --------
local bit32 = bit32 or load([[
local function bxor(a, b, ...)
  if b == nil then return a end
  return bxor(a ~ b, ...)
end
return {
  band = function(a, b) return a & b end,
  bnot = function(a) return ~a & 0xFFFFFFFF end,
  bxor = bxor,
  rshift = function(a, n) return (a & 0xFFFFFFFF) >> n end,
}]])()

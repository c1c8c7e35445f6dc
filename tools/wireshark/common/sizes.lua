-- ---- sizes and numbers as text ---------------------------------------------------------------------------------------
-- As settings/units.cpp writes sizes.
local size_units = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}}
local function size_text(bytes)
  if bytes < 10000 and bytes % 1024 ~= 0 then return ("%.0f B"):format(bytes) end
  local unit = 1
  while size_units[unit + 1] and bytes >= size_units[unit + 1][2] do unit = unit + 1 end
  local name, factor = size_units[unit][1], size_units[unit][2]
  if bytes % factor == 0 then return ("%.0f %s"):format(bytes / factor, name) end
  return ("%.1f %s"):format(bytes / factor, name)
end

local function hex_h(value) return ("%08Xh"):format(value) end
local function quoted(bytes) return '"' .. bytes:gsub("[^ -~]", ".") .. '"' end

-- ---- options behind a CE header (VI-TCP 3.3, ruling V-23) --------------------------------------------------------------
local options = {}

do
  local unpack = Struct.unpack
  local names = {[wire.option_crc] = "crc", [wire.option_urgent_marker] = "urgent_marker"}
  local no_data = wire.option_header_bytes

  -- Where the option at `at` ends, its type and length; nil and what is wrong where it does not.
  local function next_option(octets, at)
    if #octets < at + wire.option_end_bytes then return nil, "the list ends within a type" end
    local type = unpack(">I2", octets, at + 1)
    if type == wire.option_end then return at + wire.option_end_bytes, type end
    if #octets < at + no_data then return nil, "the list ends within a length" end
    local length = unpack(">I2", octets, at + 3)
    if length < no_data then return nil, ("%d octets"):format(length) end
    if at + length > #octets then return nil, ("%d octets, %d are left"):format(length, #octets - at) end
    return at + length, type, length
  end

  -- The list in `octets`, which are all of the segment behind the CE header: items with offset, type and length (of End of
  -- Option List none); `crc`, `urgent_marker`: what it has; `ends`: with End of Option List. A list with the CRC option has
  -- to; the trailer is then no part of it.
  function options.parse(octets, record)
    local list, at = {}, 0
    while at < #octets and not list.ends do
      local behind, type, length = next_option(octets, at)
      if not behind then
        -- What an option takes for itself may be the CRC: then it is the end that is missing.
        note(record, list.crc and "options_without_end" or "wrong_option", type)
        list.broken = true
        return list
      end
      list[#list + 1] = {at = at, type = type, length = length}
      list.ends = type == wire.option_end
      local name = names[type]
      if name then
        if length ~= no_data then note(record, "wrong_option", ("%s, %d octets"):format(wire.options[type], length)) end
        list[name] = true
      end
      at = behind
    end
    if list.crc and not list.ends then note(record, "options_without_end") end
    list.bytes = at
    return list
  end
end

-- ---- fields of Wireshark, made of the layouts in the tables above ------------------------------------------------------
local layouts = {}

do
  local integers = {ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32}
  integers[8] = ProtoField.uint64

  -- Numbers that count something are shown in decimal.
  local function is_count(name, counts)
    for _, part in ipairs(counts) do
      if name:find(part, 1, true) then return true end
    end
    return false
  end

  -- An item of a layout as a field. Parts of words have a mask within their bytes.
  local function field_of(abbreviation, label, item, counts)
    if item.kind == "bool" then return ProtoField.bool(abbreviation, label, 8 * item.bytes, nil, item.mask or 1) end
    if item.kind == "bytes" then return ProtoField.bytes(abbreviation, label) end
    if item.kind == "group" then return ProtoField.none(abbreviation, label) end
    local shown = (item.kind == "count" or is_count(item.name, counts)) and base.DEC or base.HEX
    local make = integers[item.bytes]
    if item.mask then return make(abbreviation, label, shown, item.values, item.mask) end
    return make(abbreviation, label, shown, item.values)
  end

  -- The fields of a protocol: `F` has them by their filter without the protocol's name, `list` in the order in which they were
  -- declared. `counts`: parts of names of fields that count something.
  function layouts.new(protocol, counts)
    local F, list = {}, {}
    local function declare(path, field)
      F[path] = field
      list[#list + 1] = field
      return field
    end
    -- The items of a layout below `path` ("" for none). Each keeps its field.
    local function declare_all(path, items)
      for _, item in ipairs(items) do
        local below = path == "" and item.name or path .. "." .. item.name
        item.field = declare(below, field_of(protocol .. "." .. below, (item.name:gsub("_", " ")), item, counts))
        if item.fields then declare_all(below, item.fields) end
      end
    end
    return F, list, declare, declare_all
  end

  -- The hand-written parts read a message by one format: that its layout is the same is checked when the plugin is loaded.
  -- `expected`: name, offset and bytes of each field, in order.
  function layouts.check(message, expected)
    local at = {}
    for _, item in ipairs(message.fields) do at[item.name] = item end
    for _, row in ipairs(expected) do
      local item = at[row[1]]
      assert(item and item.offset == row[2] and item.bytes == row[3], row[1])
    end
  end

  -- The field of that name.
  function layouts.item(message, name)
    for _, item in ipairs(message.fields) do
      if item.name == name then return item end
    end
    error(name)
  end

  -- Words of a mask that is written in hexadecimal digits, eight a word; the last may be shorter.
  function layouts.words(hex)
    local words = {}
    for word in hex:gmatch("..?.?.?.?.?.?.?") do words[#words + 1] = tonumber(word .. ("0"):rep(8 - #word), 16) end
    return words
  end
end

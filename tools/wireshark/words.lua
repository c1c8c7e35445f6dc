-- ---- words: the Info column, as the ladder of fcvi-sim has it --------------------------------------------------------
local words = {}

do
  local band, rshift = bit32.band, bit32.rshift

  -- As settings/units.cpp writes sizes.
  local units = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}}
  function words.bytes(bytes)
    if bytes < 10000 and bytes % 1024 ~= 0 then return ("%.0f B"):format(bytes) end
    local unit = 1
    while units[unit + 1] and bytes >= units[unit + 1][2] do unit = unit + 1 end
    local name, factor = units[unit][1], units[unit][2]
    if bytes % factor == 0 then return ("%.0f %s"):format(bytes / factor, name) end
    return ("%.1f %s"):format(bytes / factor, name)
  end

  function words.quoted(bytes) return '"' .. bytes:gsub("[^ -~]", ".") .. '"' end

  -- IPv4 where it is mapped, else IPv6 without the shortening of zeros.
  function words.host(bytes)
    if #bytes < 16 then return "?" end
    if bytes:sub(1, 12) == ("\0"):rep(10) .. "\255\255" then return table.concat({bytes:byte(13, 16)}, ".") end
    local groups = {Struct.unpack(">I2I2I2I2I2I2I2I2", bytes)}
    for i = 1, 8 do groups[i] = ("%x"):format(groups[i]) end
    return table.concat(groups, ":", 1, 8)
  end

  function words.discriminator(bytes)
    local text = bytes:match("^([^%z]*)%z*$")
    return text and words.quoted(text) or words.quoted(bytes)
  end

  local function connection_id(id) return id == wire.unassigned and "id unassigned" or "id " .. hex_h(id) end

  local function flag_of(iu, name)
    for _, flag in ipairs(iu.flags) do
      if flag.name == name then return flag.value end
    end
    return 0
  end
  words.flag = {}
  for opcode, iu in pairs(wire.ius) do
    words.flag[opcode] = {}
    for _, name in ipairs({"RETRY", "CONN_STS", "CONN_SETUP_ABORT", "VI_APP_DISCON", "IMM_DATA", "CONN_INFO", "RESP_ERR",
      "DESC_ERR", "PROT_ERR", "TRANS_ERR"}) do
      words.flag[opcode][name] = flag_of(iu, name)
    end
  end
  local function has(h, name) return band(h.flags, words.flag[h.opcode][name]) ~= 0 end
  words.has = has

  function words.reason(parameter)
    local known = wire.reasons[band(rshift(parameter, 16), 0xFF)]
    -- A vendor's own codes have no name.
    return known and known.use ~= "vendor" and known.name or "unknown"
  end

  local function setup_answer(h)
    local meaning = "acknowledged"
    if has(h, "CONN_STS") then
      meaning = words.reason(h.fcvi_parameter)
    elseif h.iu.name == "FCVI_CONNECT_RESP1" then
      meaning = "accepted"
    elseif h.handle == wire.unassigned then
      meaning = "no connection"
    end
    return connection_id(h.last_word) .. ", " .. meaning .. (has(h, "RETRY") and ", RETRY" or "")
  end

  local function status(h)
    if not has(h, "RESP_ERR") then return "" end
    return ", error" .. (has(h, "DESC_ERR") and " desc_err" or "") .. (has(h, "PROT_ERR") and " prot_err" or "") ..
        (has(h, "TRANS_ERR") and " trans_err" or "")
  end

  local function at(h)
    return ("at %04X%08Xh"):format(band(h.rmt_va_high, 0xFFFF), h.rmt_va)
  end

  local function request(h)
    local text = ("msg %d"):format(h.msg_id)
    if h.opcode ~= 0 then text = text .. ", " .. at(h) end
    if h.iu.payload == "none" then return text .. ", for " .. words.bytes(h.last_word) end
    return has(h, "IMM_DATA") and text .. ", imm " .. hex_h(h.fcvi_parameter) or text
  end

  local function disconnect(h)
    local parts = {}
    if h.iu.category == "connect_request" then
      if has(h, "CONN_SETUP_ABORT") then parts[#parts + 1] = "aborts a set-up" end
      if has(h, "VI_APP_DISCON") then parts[#parts + 1] = "by the application" end
    end
    if has(h, "CONN_STS") then parts[#parts + 1] = words.reason(h.fcvi_parameter) end
    return table.concat(parts, ", ")
  end

  -- `payload`: of a CONNECT_RQST, where it is whole.
  function words.fields(h, payload)
    local iu = h.iu
    if iu.category == "message_request" then return request(h) end
    if iu.category == "message_response" then return ("msg %d"):format(h.msg_id) .. status(h) end
    if iu.name:find("DISCONNECT", 1, true) then return disconnect(h) end
    if iu.category == "connect_response" then return setup_answer(h) end
    if not payload then return "" end
    local discriminator = payload.to.discriminator:sub(1, 24):match("^[^%z]*")
    return connection_id(h.last_word) .. ", " .. (wire.levels[payload.level] or "unknown") .. ", " ..
        words.quoted(discriminator) .. (has(h, "RETRY") and ", RETRY" or "")
  end
end

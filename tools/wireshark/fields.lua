-- ---- fields: what can be filtered on, made from the tables above ----------------------------------------------------
-- Lua 5.2 (Wireshark 4.0 to 4.2) has bit32, Lua 5.4 (since 4.4) operators that 5.2 does not even read.
local bit32 = bit32 or load([[return {
  band = function(a, b) return a & b end,
  bnot = function(a) return ~a & 0xFFFFFFFF end,
  bxor = function(a, b, c) return a ~ b ~ (c or 0) end,
  rshift = function(a, n) return (a & 0xFFFFFFFF) >> n end,
}]])()
local fcvi = Proto("fcvi", "Fibre Channel Virtual Interface")
local F = {}          -- the fields by their filter without "fcvi."
local flag_fields = {}  -- of each IU: its flags, in the order of the standard

do
  local declared = {}
  local function declare(path, field)
    F[path] = field
    declared[#declared + 1] = field
    return field
  end

  local function label_of(name) return (name:gsub("_", " ")) end

  local counts = {}  -- numbers that count something are shown in decimal
  for _, part in ipairs({"length", "size", "bandwidth", "delay", "depth"}) do counts[#counts + 1] = part end
  local function is_count(name)
    for _, part in ipairs(counts) do
      if name:find(part, 1, true) then return true end
    end
    return false
  end

  local integers = {ProtoField.uint8, ProtoField.uint16, ProtoField.uint24, ProtoField.uint32}
  integers[8] = ProtoField.uint64

  -- A field of the tables as one of Wireshark. Parts of words have a mask within their bytes.
  local function field_of(abbreviation, label, item)
    if item.kind == "bool" then return ProtoField.bool(abbreviation, label, 8 * item.bytes, nil, item.mask or 1) end
    if item.kind == "ip" then return ProtoField.ipv6(abbreviation, label) end
    if item.kind == "wwn" then return ProtoField.bytes(abbreviation, label, base.COLON) end
    if item.kind == "fc_id" then return ProtoField.bytes(abbreviation, label, base.DOT) end
    if item.kind == "bytes" then return ProtoField.bytes(abbreviation, label) end
    if item.kind == "group" then return ProtoField.none(abbreviation, label) end
    local shown = (item.kind == "count" or is_count(item.name)) and base.DEC or base.HEX
    local make = integers[item.bytes]
    if item.mask then return make(abbreviation, label, shown, item.values, item.mask) end
    return make(abbreviation, label, shown, item.values)
  end

  -- `items` below `path`; the names of the standard's own fields begin with `prefix`.
  local function declare_all(path, items, prefix)
    for _, item in ipairs(items) do
      local below = path == "" and item.name or path .. "." .. item.name
      local label = prefix and prefix .. item.name:upper() or label_of(item.name)
      item.field = declare(below, field_of("fcvi." .. below, label, item))
      if item.fields then declare_all(below, item.fields) end
    end
  end

  declare_all("", wire.messages.device_header.fields, "FCVI_")
  -- One word, two fields: which of them it is depends on the IU (FC-VI 5.9.10).
  for _, item in ipairs(wire.messages.device_header.fields) do
    if item.name == "tot_len_or_connection_id" then
      declare("tot_len", ProtoField.uint32("fcvi.tot_len", "FCVI_TOT_LEN", base.DEC))
      declare("connection_id", ProtoField.uint32("fcvi.connection_id", "FCVI_CONNECTION_ID", base.HEX))
    elseif item.name == "parameter" then
      declare("immediate_data", ProtoField.uint32("fcvi.immediate_data", "Immediate Data", base.HEX))
    end
  end
  declare("status", ProtoField.none("fcvi.status", "Connection status"))
  declare_all("status", wire.messages.status.fields)
  local reasons = {}
  for code, reason in pairs(wire.reasons) do reasons[code] = reason.name end
  for _, item in ipairs(wire.messages.status.fields) do
    if item.name == "reason" then item.values = reasons end
  end
  declare("connect", ProtoField.none("fcvi.connect", "Connect payload"))
  declare_all("connect", wire.messages.connect.fields)
  declare("connect.connect_info", ProtoField.bytes("fcvi.connect.connect_info", "FCVI_CONNECT_INFO"))
  declare("connect.discriminator", ProtoField.string("fcvi.connect.discriminator", "Discriminator as text"))
  for _, message in ipairs({"farp", "ripp_id", "gid_ipp"}) do
    declare(message, ProtoField.none("fcvi." .. message, message:upper():gsub("FARP", "FARP, by field") .. ""))
    declare_all(message, wire.messages[message].fields)
  end
  declare("farp.match.port_name", ProtoField.bool("fcvi.farp.match.port_name", "match Port_Name", 8, nil, 1))
  declare("farp.match.node_name", ProtoField.bool("fcvi.farp.match.node_name", "match Node_Name", 8, nil, 2))
  declare("farp.match.ip_address", ProtoField.bool("fcvi.farp.match.ip_address", "match IP address", 8, nil, 4))
  declare("farp.action.login", ProtoField.bool("fcvi.farp.action.login", "log in", 8, nil, 1))
  declare("farp.action.reply", ProtoField.bool("fcvi.farp.action.reply", "reply", 8, nil, 2))

  -- Flags: the same name may stand at another bit in another IU, under the same filter.
  local seen = {}
  for opcode, iu in pairs(wire.ius) do
    iu.opcode = opcode
    flag_fields[opcode] = {}
    local mode
    for _, flag in ipairs(iu.flags) do
      local name = flag.name:lower()
      if flag.name == "CLIENT_SERVER" or flag.name == "PEER_TO_PEER" then
        if not mode then
          mode = true
          F["flags.mode"] = F["flags.mode"] or
              declare("flags.mode", ProtoField.uint8("fcvi.flags.mode", "CONN_MODE", base.DEC, wire.modes, 7))
          table.insert(flag_fields[opcode], F["flags.mode"])
        end
      else
        local key = name .. flag.value
        seen[key] = seen[key] or
            declare("flags." .. key, ProtoField.bool("fcvi.flags." .. name, flag.name, 8, nil, flag.value))
        table.insert(flag_fields[opcode], seen[key])
      end
    end
  end

  -- What is not on the wire, but follows from it.
  declare("data", ProtoField.bytes("fcvi.data", "Message data"))
  declare("iu", ProtoField.string("fcvi.iu", "IU"))
  declare("connection", ProtoField.uint32("fcvi.connection", "Connection", base.DEC))
  declare("connection.originator", ProtoField.string("fcvi.connection.originator", "Originator"))
  declare("connection.responder", ProtoField.string("fcvi.connection.responder", "Responder"))
  declare("connection.discriminator", ProtoField.string("fcvi.connection.discriminator", "Discriminator"))
  declare("connection.level", ProtoField.string("fcvi.connection.level", "Reliability level"))
  declare("connection.window", ProtoField.uint64("fcvi.connection.window", "Window, messages", base.DEC))
  declare("connection.open", ProtoField.uint32("fcvi.connection.open", "Open messages of the sender", base.DEC))
  declare("connection.setup", ProtoField.framenum("fcvi.connection.setup", "Set up by"))
  declare("request_in", ProtoField.framenum("fcvi.request_in", "Request in", base.NONE, frametype.REQUEST))
  declare("response_in", ProtoField.framenum("fcvi.response_in", "Response in", base.NONE, frametype.RESPONSE))
  declare("time", ProtoField.relative_time("fcvi.time", "Time since the request"))
  declare("retry_of", ProtoField.framenum("fcvi.retry_of", "Retry of", base.NONE, frametype.RETRANS_PREV))
  declare("same_frame", ProtoField.framenum("fcvi.same_frame", "The same frame, elsewhere", base.NONE, frametype.NONE))
  declare("aborts", ProtoField.framenum("fcvi.aborts", "Aborts the Exchange of"))
  declare("message", ProtoField.none("fcvi.message", "Message"))
  declare("message.bytes", ProtoField.uint32("fcvi.message.bytes", "Bytes so far", base.DEC))
  declare("message.frames", ProtoField.uint32("fcvi.message.frames", "Frames", base.DEC))
  declare("message.frame", ProtoField.framenum("fcvi.message.frame", "Frame"))
  declare("message.complete", ProtoField.bool("fcvi.message.complete", "Complete"))
  declare("message.data", ProtoField.bytes("fcvi.message.data", "Data of the whole message"))
  declare("violation", ProtoField.string("fcvi.violation", "Violation"))
  fcvi.fields = declared
end

fcvi.prefs.reassemble = Pref.bool("Reassemble messages", true, "Show the data of a message with its last frame")
fcvi.prefs.message_limit = Pref.uint("Longest message, KiB", 16384, "Longer messages are not reassembled")
fcvi.prefs.memory_limit = Pref.uint("Memory for messages, MiB", 256, "Beyond that no further message is reassembled")
fcvi.prefs.statistics = Pref.bool("Print statistics", false, "For tshark: print the statistics when all frames are read")
fcvi.prefs.export = Pref.string("Write whole messages to", "", "For tshark: a folder that is there; the data of each message become a file in it")

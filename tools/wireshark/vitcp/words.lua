-- ---- words: the Info column ------------------------------------------------------------------------------------------
local words = {}

do
  local band = bit32.band

  -- The text of a discriminator, whose octets may be anything.
  function words.discriminator(octets) return quoted(octets:match("^([^%z]*)%z*$") or octets) end

  local errors = {}  -- the bits of the Remote Error Code's lower half by what they say
  for _, item in ipairs(layouts.item(wire.messages.header, "remote_error").fields) do
    if item.kind == "bool" then errors[#errors + 1] = {mask = item.mask, text = (item.name:gsub("_", " "))} end
  end
  -- "" for no error.
  function words.error(code)
    local parts = {}
    for _, row in ipairs(errors) do
      if band(code, row.mask) ~= 0 then parts[#parts + 1] = row.text end
    end
    local specific = math.floor(code / 256)
    if specific ~= 0 then parts[#parts + 1] = ("IS error %02Xh"):format(specific) end
    return table.concat(parts, ", ")
  end

  -- Which part of its message a segment is: "64 B", or "[1000+1000 of 4 KiB]", "[2000+500, end]".
  local function part(h, total, payload)
    if payload == nil then return "" end
    if h.offset == 0 and h.ends then return ", " .. size_text(payload) end
    if total then return (" [%.0f+%d of %s]"):format(h.offset, payload, size_text(total)) end
    return (" [%.0f+%d%s]"):format(h.offset, payload, h.ends and ", end" or "")
  end

  local function at(h) return h.address and (", at %08X%08Xh"):format(h.address_high, h.address) or "" end

  local function flags(h)
    local text = h.has_immediate and ", imm " .. hex_h(h.immediate) or ""
    return h.transmit_error and text .. ", Transmit Error" or text
  end

  local function setup(record)
    local ce = record.ce
    if not ce then return "" end
    local text = " " .. words.discriminator(ce.called) .. ", " .. (wire.levels[ce.level] or "unknown level")
    if ce.options and ce.options.crc then text = text .. ", CRC" end
    if ce.peer_to_peer then text = text .. ", peer-to-peer" end
    return text
  end

  local function nop(h, record)
    local text = ("NOP, ack %08Xh, %d posted"):format(h.ack, h.posted)
    local problem = record.with_errors and words.error(h.error) or ""
    return problem == "" and text or text .. ", " .. problem
  end

  -- `payload`: octets, nil where that is not known.
  function words.of(h, record, payload)
    local info = h.info
    if h.version ~= wire.version then return ("version %d"):format(h.version) end
    if not info then return ("type %d"):format(h.type) end
    if info.is_connection then return info.name .. setup(record) end
    if h.type == wire.nop then return nop(h, record) end
    local message = record.message
    local total = h.total or message and message.total
    if h.type == wire.read_request then
      return ("%s %08Xh%s, for %s"):format(info.name, h.number, at(h), total and size_text(total) or "?")
    end
    local text = ("%s %08Xh%s"):format(info.name, h.number, h.offset == 0 and at(h) or "")
    local problem = record.with_errors and words.error(h.error) or ""
    if problem ~= "" then problem = (", ack %08Xh, %s"):format(h.ack, problem) end
    return text .. part(h, total, payload) .. flags(h) .. problem
  end
end

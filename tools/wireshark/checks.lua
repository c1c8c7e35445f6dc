local experts, note = violations_of(fcvi, "fcvi")

local checks = {}

do
  local band, bnot = bit32.band, bit32.bnot

  local function words_of(hex)
    local words = {}
    for word in hex:gmatch("........") do words[#words + 1] = tonumber(word, 16) end
    return words
  end
  -- Masks of the bits that each IU does not use, word by word; the handle's and opcode's are judged apart.
  local unused = {}
  for opcode, iu in pairs(wire.ius) do
    local plain, with_parameter = words_of(iu.used), words_of(iu.used_with_parameter)
    for i = 1, #plain do plain[i], with_parameter[i] = bnot(plain[i]), bnot(with_parameter[i]) end
    unused[opcode] = {plain = plain, with_parameter = with_parameter}
  end
  local word_names = {"FCVI_HANDLE", "FCVI_FLAGS and word 1", "FCVI_MSG_ID", "FCVI_PARAMETER", "FCVI_RMT_VA",
    "FCVI_RMT_VA", "FCVI_RMT_VA_HANDLE", "word 7"}

  local function reserved_bits(h, record)
    local masks = unused[h.opcode]
    local mask = band(h.flags, h.iu.parameter_flag) ~= 0 and masks.with_parameter or masks.plain
    local all = band(h.word1, mask[2]) + band(h.msg_id, mask[3]) + band(h.fcvi_parameter, mask[4])
    if h.header == 32 then
      all = all + band(h.rmt_va_high, mask[5]) + band(h.rmt_va, mask[6]) + band(h.rmt_va_handle, mask[7]) +
          band(h.last_word, mask[8])
    end
    if all == 0 then return end
    local words, found = {0, h.word1, h.msg_id, h.fcvi_parameter, h.rmt_va_high, h.rmt_va, h.rmt_va_handle, h.last_word}, {}
    for i = 2, h.header / 4 do
      local bits = band(words[i], mask[i])
      if bits ~= 0 then found[#found + 1] = word_names[i] .. " has " .. hex_h(bits) end
    end
    note(record, "reserved_bits", table.concat(found, ", "))
  end

  -- Whether an IU with these flags uses all of FCVI_RMT_VA that is shown, and FCVI_RMT_VA_HANDLE.
  function checks.takes_any_address(h)
    local masks = unused[h.opcode]
    local mask = band(h.flags, h.iu.parameter_flag) ~= 0 and masks.with_parameter or masks.plain
    return band(mask[5], 0xFFFF) == 0 and mask[6] == 0 and mask[7] == 0
  end

  -- FC-VI 5.8.4, Table 1: who has Sequence Initiative after an IU, which begins the Exchange, and which ends it.
  local ends_exchange = {FCVI_CONNECT_RESP3 = true, FCVI_DISCONNECT_RESP = true, FCVI_SEND_RESP = true,
    FCVI_WRITE_RESP = true}
  local gives_initiative = {FCVI_CONNECT_RQST = true, FCVI_CONNECT_RESP1 = true, FCVI_CONNECT_RESP2 = true,
    FCVI_DISCONNECT_RQST = true, FCVI_READ_RQST = true}
  local of_originator, begins_exchange = {}, {}
  for opcode, iu in pairs(wire.ius) do
    begins_exchange[opcode] = iu.category:find("request", 1, true) ~= nil
    of_originator[opcode] = begins_exchange[opcode] or iu.name == "FCVI_CONNECT_RESP2"
  end

  function checks.f_ctl(h, record)
    local iu = h.iu
    local name = iu.name
    if of_originator[h.opcode] == h.responder then
      note(record, "wrong_f_ctl", "bit 23 says the Exchange's " .. (h.responder and "responder" or "originator"))
    end
    if iu.payload == "none" and not h.ends_sequence then
      note(record, "wrong_f_ctl", "an IU of one frame without End_Sequence")
    elseif h.ends_sequence and ends_exchange[name] and not h.last_sequence then
      note(record, "wrong_f_ctl", "Last_Sequence is not set")
    elseif h.ends_sequence and gives_initiative[name] and not h.gives_initiative then
      note(record, "wrong_f_ctl", "Sequence Initiative is not transferred")
    elseif iu.payload == "message_data" and h.payload > 0 and band(h.f_ctl, wire.relative_offset_present) == 0 then
      note(record, "wrong_f_ctl", "data without a relative offset")
    elseif h.ends_sequence and gives_initiative[name] and h.last_sequence then
      note(record, "wrong_f_ctl", "Last_Sequence, but an answer is owed")
    elseif begins_exchange[h.opcode] then
      if h.seq_cnt == 0 and h.parameter == 0 and band(h.f_ctl, wire.first_sequence) == 0 then
        note(record, "wrong_f_ctl", "First_Sequence is not set")
      end
    elseif band(h.f_ctl, wire.first_sequence) ~= 0 then
      note(record, "wrong_f_ctl", "First_Sequence, but the Exchange began before")
    end
  end

  -- FC-VI Tables 11 and 12.
  local function reason(h, record)
    local code = band(bit32.rshift(h.fcvi_parameter, 16), 0xFF)
    local explanation = band(bit32.rshift(h.fcvi_parameter, 8), 0xFF)
    local known = wire.reasons[code]
    local wanted = h.iu.name:find("CONNECT_RESP%d") and "response" or "disconnect"
    if not known then
      note(record, "wrong_reason", ("%02Xh is reserved"):format(code))
    elseif known.use ~= "vendor" and known.use ~= wanted then
      note(record, "wrong_reason", ("%02Xh, %s"):format(code, known.name))
    elseif explanation ~= 0 then
      note(record, "wrong_reason", ("explanation %02Xh is reserved"):format(explanation))
    end
  end

  -- What one frame says by itself. False: its fields are not to be trusted.
  function checks.header(h, record)
    if not h.iu then
      if h.opcode then
        note(record, "unknown_opcode", ("%02Xh"):format(h.opcode))
      elseif not h.is_cut then
        note(record, "truncated")
      end
      return false
    end
    if h.announced ~= h.iu.header then
      note(record, "wrong_device_header", ("%d bytes, %s has %d"):format(h.announced, h.iu.name, h.iu.header))
      return false
    end
    if not h.header then
      if not h.is_cut then note(record, "truncated") end
      return false
    end
    if h.r_ctl ~= h.iu.r_ctl then
      note(record, "wrong_r_ctl", ("%02Xh, %s has %02Xh"):format(h.r_ctl, h.iu.name, h.iu.r_ctl))
    end
    reserved_bits(h, record)
    checks.f_ctl(h, record)
    if not h.iu.category:find("message", 1, true) and band(h.cs_ctl, wire.cs_ctl_preference) ~= 0 then  -- FC-VI 5.8.2
      note(record, "wrong_preference", "PREF is set, but this is no message")
    end
    if h.iu.payload == "none" and h.payload ~= 0 then
      note(record, "wrong_payload_length", ("%d bytes, %s has none"):format(h.payload, h.iu.name))
    end
    if h.iu.category == "message_response" then
      local flags = band(h.flags, 0x0F)
      if flags > 1 and band(flags, 1) == 0 then
        note(record, "wrong_error_flags", "a cause without RESP_ERR")
      elseif flags == 1 then
        note(record, "wrong_error_flags", "RESP_ERR without a cause")
      end
    elseif h.iu.parameter_flag ~= 0 and h.iu.category ~= "message_request" and frame.has(h, h.iu.parameter_flag) then
      reason(h, record)
    end
    return true
  end

  -- ---- the payload of CONNECT_RQST and CONNECT_RESP1
  local paths = {}
  local function collect(prefix, items)
    for _, item in ipairs(items) do
      paths[prefix .. item.name] = item
      if item.fields then collect(prefix .. item.name .. ".", item.fields) end
    end
  end
  collect("", wire.messages.connect.fields)
  checks.connect_paths = paths

  local function number_in(bytes, path)
    local item = paths[path]
    local value = Struct.unpack(">I" .. item.bytes, bytes, item.offset + 1)
    if item.mask then
      value = band(value, item.mask)
      local shift = item.mask
      while shift % 2 == 0 do value, shift = bit32.rshift(value, 1), bit32.rshift(shift, 1) end
    end
    return value
  end
  local function bytes_in(bytes, path)
    local item = paths[path]
    return bytes:sub(item.offset + 1, item.offset + item.bytes)
  end
  local function address_in(bytes, path)
    local host = bytes_in(bytes, path .. ".host")
    local length = math.min(number_in(bytes, path .. ".discriminator_length"), wire.max_discriminator)
    return {
      host = host,
      host_length = number_in(bytes, path .. ".host_length"),
      length = number_in(bytes, path .. ".discriminator_length"),
      discriminator = bytes_in(bytes, path .. ".discriminator"),
      shown = bytes_in(bytes, path .. ".discriminator"):sub(1, length),
    }
  end

  -- The payload's values; `bytes` has at least the 340 that always are there.
  function checks.connect_payload(bytes)
    return {
      revision = number_in(bytes, "revision"),
      handle = number_in(bytes, "handle"),
      from = address_in(bytes, "local_address"),
      to = address_in(bytes, "remote_address"),
      level = number_in(bytes, "local_attributes.reliability_level"),
      write = number_in(bytes, "local_attributes.rdma_write_enabled") ~= 0,
      read = number_in(bytes, "local_attributes.rdma_read_enabled") ~= 0,
      max_transfer_size = number_in(bytes, "local_attributes.max_transfer_size"),
      preference = number_in(bytes, "local_attributes.qos.pref"),
      limits = number_in(bytes, "local_attributes.qos.max_bandwidth") +
          number_in(bytes, "local_attributes.qos.min_bandwidth") + number_in(bytes, "local_attributes.qos.max_delay_us"),
      depth = number_in(bytes, "local_attributes.qos.pipeline_depth"),
    }
  end

  local payload_unused = words_of(wire.messages.connect.reserved)

  local function address(at, record, what)
    if at.host_length ~= wire.host_length then
      note(record, "wrong_address", ("HOST_ADD_LEN of the %s address is %d"):format(what, at.host_length))
    end
    if at.length < wire.min_discriminator or at.length > wire.max_discriminator then
      note(record, "wrong_address", ("DISCRIM_LEN of the %s address is %d"):format(what, at.length))
    end
  end

  function checks.connect(bytes, payload, record)
    for i, mask in ipairs(payload_unused) do
      if mask ~= 0 then
        local bits = band(Struct.unpack(">I4", bytes, 4 * i - 3), mask)
        if bits ~= 0 then note(record, "reserved_bits", ("word %d of the payload has %s"):format(i - 1, hex_h(bits))) end
      end
    end
    if payload.revision ~= wire.revision then note(record, "wrong_revision", ("%04Xh"):format(payload.revision)) end
    address(payload.from, record, "local")
    address(payload.to, record, "remote")
    if not wire.levels[payload.level] then note(record, "wrong_level", tostring(payload.level)) end
    if payload.preference ~= 0 and payload.preference ~= wire.preference then
      note(record, "wrong_qos", ("FCVI_PREF is %02Xh"):format(payload.preference))
    elseif payload.limits ~= 0 then
      note(record, "wrong_qos", "a bandwidth or delay that is not 0")
    end
  end

  function checks.payload_length(h, length, record)
    local with_info = false
    for _, flag in ipairs(h.iu.flags) do
      if flag.name == "CONN_INFO" then with_info = frame.has(h, flag.value) end
    end
    local wanted = with_info and wire.connect_bytes_with_info or wire.connect_bytes
    if length ~= wanted then
      note(record, "wrong_payload_length", ("%d bytes, %s has %d"):format(length, h.iu.name, wanted))
      return false
    end
    return true
  end
end

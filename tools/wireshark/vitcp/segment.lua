-- ---- one segment: its headers, and what it says wrong by itself --------------------------------------------------------
local segment = {}

do
  local band, rshift = bit32.band, bit32.rshift
  local unpack = Struct.unpack
  local messages = wire.messages
  local header_bytes, trailer_bytes = wire.header_bytes, wire.trailer_bytes

  layouts.check(messages.header, {{"version", 0, 1}, {"end_of_message", 1, 1}, {"immediate_data_valid", 1, 1},
    {"transmit_error", 1, 1}, {"type", 1, 1}, {"segment_length", 2, 2}, {"data_offset", 4, 4}, {"immediate_data", 8, 4},
    {"message_number", 12, 4}, {"message_ack", 16, 4}, {"rx_descriptors_posted", 20, 2}, {"remote_error", 22, 2}})
  layouts.check(messages.rdma, {{"rdma_address", 0, 8}, {"memory_handle", 8, 4}, {"rdma_length", 12, 4}})
  layouts.check(messages.ce, {{"calling_discriminator_length", 2, 2}, {"mtu_size", 4, 4}, {"calling_discriminator", 8, 64},
    {"rdma_read_window", 72, 2}, {"called_discriminator_length", 74, 2}, {"called_discriminator", 76, 64}})
  local function mask_of(message, name) return layouts.item(message, name).mask end
  local type_mask, end_mask = mask_of(messages.header, "type"), mask_of(messages.header, "end_of_message")
  local immediate_mask = mask_of(messages.header, "immediate_data_valid")
  local error_mask = mask_of(messages.header, "transmit_error")
  segment.type_mask = type_mask

  -- Bits of the Remote Error Code, and of Calling Attributes, that nobody uses.
  local reserved_error = band(layouts.words(messages.header.reserved)[6], 0xFFFF)
  local reserved_attributes = rshift(layouts.words(messages.ce.reserved)[1], 16)
  local vi_error_mask = 0
  for _, item in ipairs(layouts.item(messages.header, "remote_error").fields) do
    if item.kind == "bool" then vi_error_mask = vi_error_mask + item.mask end
  end
  -- VI Error Type of a Remote Error Code; 0: no error.
  function segment.vi_error(code) return band(code, vi_error_mask) end
  local attribute_masks = {}
  for _, name in ipairs({"peer_to_peer", "descriptor_flow_control", "rdma_read_enable", "rdma_write_enable", "reliability_level"}) do
    local item = layouts.item(messages.ce, name)
    assert(item.offset == 1 and item.bytes == 1, name)
    attribute_masks[name] = item.mask
  end

  -- One table for all headers, since none is kept.
  local shared = {}

  -- The header that begins `raw`, which has its octets at least. Valid until the next call.
  function segment.parse(raw)
    local h = shared
    local flags
    h.version, flags, h.length, h.offset, h.immediate, h.number, h.ack, h.posted, h.error = unpack(">BBI2I4I4I4I4I2I2", raw)
    local type = band(flags, type_mask)
    h.flags, h.type, h.info = flags, type, wire.types[type]
    h.ends = band(flags, end_mask) ~= 0
    h.has_immediate = band(flags, immediate_mask) ~= 0
    h.transmit_error = band(flags, error_mask) ~= 0
    h.address_high, h.address, h.handle, h.total = nil, nil, nil, nil
    return h
  end

  -- The RDMA header behind it; false where it is not there.
  function segment.parse_rdma(h, raw)
    if #raw < header_bytes + messages.rdma.size then return false end
    h.address_high, h.address, h.handle, h.total = unpack(">I4I4I4I4", raw, header_bytes + 1)
    return true
  end

  -- The CE header at the begin of `octets`, nil where it is not whole.
  function segment.parse_ce(octets)
    if #octets < messages.ce.size then return nil end
    local attributes, calling_length, mtu = unpack(">I2I2I4", octets)
    local window, called_length = unpack(">I2I2", octets, 73)
    local function has(name) return band(attributes, attribute_masks[name]) ~= 0 end
    return {
      reserved = band(attributes, reserved_attributes), level = band(attributes, attribute_masks.reliability_level),
      write = has("rdma_write_enable"), read = has("rdma_read_enable"), flow_control = has("descriptor_flow_control"),
      peer_to_peer = has("peer_to_peer"), mtu = mtu, window = window, calling_length = calling_length,
      called_length = called_length, calling = octets:sub(9, 8 + math.min(calling_length, wire.max_discriminator)),
      called = octets:sub(77, 76 + math.min(called_length, wire.max_discriminator)),
    }
  end

  -- Fewest and most octets of a segment of each type.
  for _, info in pairs(wire.types) do
    info.least = header_bytes + info.following_bytes
    info.has_rdma = info.following == "RDMA header"
    info.has_any_length = info.has_payload or info.following == "CE header"
    info.most = info.has_any_length and 65535 or info.least + trailer_bytes
  end
  function segment.length_fits(h)
    local info, length = h.info, h.length
    if info.has_any_length then return length >= info.least end
    return length == info.least or length == info.most
  end

  -- Whether octets that may be anything begin a segment: all that is fixed is as it has to be. `raw`: 24 octets at least.
  function segment.is_plausible(raw)
    local h = segment.parse(raw)
    local info = h.info
    if h.version ~= wire.version or not info or not segment.length_fits(h) then return false end
    if band(h.error, reserved_error) ~= 0 then return false end
    if info.has_payload then return info.has_immediate_data or not h.has_immediate and h.immediate == 0 end
    return not h.has_immediate and h.immediate == 0 and (h.offset == 0 or h.type == wire.nop)
  end

  -- A ConnectRequest in which nothing is wrong: `raw` is all that its sender sent. (It waits for the answer.)
  function segment.is_request(raw)
    if #raw < header_bytes + messages.ce.size or not segment.is_plausible(raw) then return false end
    local h = segment.parse(raw)
    local ce = segment.parse_ce(raw:sub(header_bytes + 1))
    local function is_padded(at, length) return not raw:find("[^%z]", at + length) or raw:find("[^%z]", at + length) > at + 63 end
    return h.type == wire.connect_request and h.length == #raw and ce.reserved == 0 and wire.levels[ce.level] ~= nil and
        ce.mtu ~= 0 and ce.calling_length <= wire.max_discriminator and ce.called_length <= wire.max_discriminator and
        is_padded(header_bytes + 9, ce.calling_length) and is_padded(header_bytes + 77, ce.called_length)
  end

  -- What the header says wrong by itself. False: its fields are not to be trusted.
  function segment.check(h, record)
    local info = h.info
    if h.version ~= wire.version then
      note(record, "wrong_version", ("%02Xh"):format(h.version))
      return false
    end
    if not info then
      note(record, "unknown_type", ("%d"):format(h.type))
      return false
    end
    local reserved = band(h.error, reserved_error)
    if reserved ~= 0 then note(record, "reserved_bits", ("Remote Error Code has %04Xh"):format(reserved)) end
    if not segment.length_fits(h) then
      note(record, "wrong_length", ("%d octets, %s has at least %d"):format(h.length, info.name, info.least))
      return false
    end
    if not info.has_immediate_data then
      if h.has_immediate then note(record, "wrong_flags", info.name .. " with Immediate Data Valid") end
      if h.immediate ~= 0 then note(record, "wrong_immediate", hex_h(h.immediate)) end
    end
    if info.has_payload then return true end
    if h.offset ~= 0 and h.type ~= wire.nop then note(record, "wrong_offset", ("%.0f, %s has none"):format(h.offset, info.name)) end
    if not h.ends and h.type == wire.read_request then note(record, "wrong_flags", info.name .. " without End of Message") end
    return true
  end

  -- Of one with a CE header. `ce`: as parse_ce() says.
  function segment.check_ce(ce, record)
    if ce.reserved ~= 0 then note(record, "reserved_bits", ("Calling Attributes have %04Xh"):format(ce.reserved)) end
    if not wire.levels[ce.level] then note(record, "wrong_level", ("bits %d"):format(ce.level)) end
    if ce.calling_length > wire.max_discriminator then
      note(record, "wrong_discriminator", ("calling, %d octets"):format(ce.calling_length))
    end
    if ce.called_length > wire.max_discriminator then
      note(record, "wrong_discriminator", ("called, %d octets"):format(ce.called_length))
    end
    if ce.mtu == 0 then note(record, "wrong_mtu", "0") end
  end
end

-- ---- frames: header, data field, what carries them -----------------------------------------------------------------
-- Offsets come from the layout of the frame header. Struct reads a header in one call: a range and a value for each
-- field would take most of the time.
local frame = {}

do
  local band = bit32.band
  local unpack_header = Struct.unpack

  -- The order in which the headers are read below. That the layouts have these fields, each behind the other, is checked
  -- when the plugin is loaded.
  local function check(message, expected)
    local at = 0
    for i, item in ipairs(message.fields) do
      local name, offset, bytes = expected[i][1], expected[i][2] or at, expected[i][3]
      assert(item.name == name and item.offset == offset and item.bytes == bytes, name)
      at = item.offset + item.bytes
    end
  end
  check(wire.messages.fc, {{"r_ctl", 0, 1}, {"d_id", 1, 3}, {"cs_ctl", 4, 1}, {"s_id", 5, 3}, {"type", 8, 1}, {"f_ctl", 9, 3},
    {"seq_id", 12, 1}, {"df_ctl", 13, 1}, {"seq_cnt", 14, 2}, {"ox_id", 16, 2}, {"rx_id", 18, 2}, {"parameter", 20, 4}})
  check(wire.messages.device_header, {{"handle", 0, 4}, {"opcode", 4, 1}, {"flags", 5, 1}, {"msg_id", 8, 4},
    {"parameter", 12, 4}, {"rmt_va", 16, 8}, {"rmt_va_handle", 24, 4}, {"tot_len_or_connection_id", 28, 4}})
  local header_format = ">I1I3I1I3I1I3I1I1I2I2I2I4"
  local header_bytes, device_header_bytes = wire.messages.fc.size, wire.messages.device_header.size
  frame.header_bytes = header_bytes

  -- Wireshark's look-up of a method takes longer than most methods: those of every frame are looked up once.
  local raw_of

  -- The same of an attribute, as a function of the object. Where Wireshark keeps them elsewhere than it does now, by its name.
  function frame.getter(object, name)
    local class = getmetatable(object)
    local getters = type(class) == "table" and rawget(class, "__getters")
    return type(getters) == "table" and getters[name] or function(of) return of[name] end
  end

  -- One table for all frames, since none is kept: a new one for each would take much of the time.
  local shared = {}

  -- A part of a Tvb as a string.
  function frame.bytes(tvb, at, length)
    raw_of = raw_of or tvb.raw
    return raw_of(tvb, at, length)
  end

  -- The frame that begins at `offset` and has `length` bytes on the wire, without CRC and delimiters; `captured` are there.
  -- nil: no frame header. Valid until the next call.
  function frame.parse(tvb, offset, length, captured)
    if length < header_bytes or captured < header_bytes then return nil end
    raw_of = raw_of or tvb.raw
    local raw = raw_of(tvb, offset, captured < 56 and captured or 56)
    local h = shared
    h.raw = raw
    h.r_ctl, h.d_id, h.cs_ctl, h.s_id, h.type, h.f_ctl, h.seq_id, h.df_ctl, h.seq_cnt, h.ox_id, h.rx_id, h.parameter =
        unpack_header(header_format, raw)
    local r_ctl, f_ctl = h.r_ctl, h.f_ctl
    if r_ctl == 0x50 or r_ctl == 0x51 then  -- VFT, IFR: 8 bytes in front of the header
      return frame.parse(tvb, offset + 8, length - 8, captured - 8)
    end
    h.tvb, h.at = tvb, offset + header_bytes
    length, captured = length - header_bytes - band(f_ctl, wire.fill_bytes_mask), captured - header_bytes
    if length < 0 then length = 0 end
    h.length = length                                         -- of the data field
    h.captured = captured < length and captured or length     -- of it
    h.is_cut = captured < length
    h.responder = band(f_ctl, wire.exchange_responder) ~= 0
    h.ends_sequence = band(f_ctl, wire.end_sequence) ~= 0
    h.last_sequence = band(f_ctl, wire.last_sequence) ~= 0
    h.gives_initiative = band(f_ctl, wire.sequence_initiative) ~= 0
    return h
  end

  local announced = {[0] = 0, 16, 32, 64}  -- bytes of Device_Header by DF_CTL (FC-FS)

  -- Reads the Device_Header of a FC-VI frame into h. `h.iu` is nil for an opcode that the standard does not have;
  -- `h.header` is nil where the header is not there as a whole. `h.word1` to `h.word7` are its words.
  function frame.parse_device_header(h)
    local raw = h.raw
    h.announced = announced[band(h.df_ctl, 3)]
    h.opcode, h.flags, h.iu, h.header = nil, nil, nil, nil
    if h.captured < 6 then return end
    h.opcode, h.flags = raw:byte(header_bytes + 5, header_bytes + 6)
    local iu = wire.ius[h.opcode]
    h.iu = iu
    local size = iu and iu.header or 0
    if size == 0 or h.captured < size then return end
    h.header = size
    if size == device_header_bytes then
      h.handle, h.word1, h.msg_id, h.fcvi_parameter, h.rmt_va_high, h.rmt_va, h.rmt_va_handle, h.last_word =
          unpack_header(">I4I4I4I4I4I4I4I4", raw, header_bytes + 1)
    else
      h.handle, h.word1, h.msg_id, h.fcvi_parameter = unpack_header(">I4I4I4I4", raw, header_bytes + 1)
      h.rmt_va_high, h.rmt_va, h.rmt_va_handle, h.last_word = 0, 0, 0, 0
    end
    local payload, captured = h.length - size, h.captured - size
    h.payload_at, h.payload = h.at + size, payload
    h.payload_captured = captured > 0 and captured or 0
  end

  -- A Device_Header of 32 bytes but for its first byte. Of strings of 32 bytes and more Lua 5.2 hashes every other byte: the headers of
  -- thousands of short messages would stand in few chains.
  function frame.header_end(raw) return raw:sub(header_bytes + 2, header_bytes + device_header_bytes) end
  -- Whether the frames that begin with these bytes have the same Device_Header.
  function frame.same_header(raw, other)
    return frame.header_end(raw) == frame.header_end(other) and raw:byte(header_bytes + 1) == other:byte(header_bytes + 1)
  end

  function frame.has(h, flag) return band(h.flags, flag) ~= 0 end
end

-- An N_Port_ID as the ladder writes it.
local function id_text(id) return ("%06X"):format(id) end
local function hex_h(value) return ("%08Xh"):format(value) end

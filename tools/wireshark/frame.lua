-- ---- frames: header, data field, what carries them -----------------------------------------------------------------
-- Offsets come from the layout of the frame header. Struct reads a header in one call: a range and a value for each
-- field would take most of the time.
local frame = {}

do
  local function reader_of(message)
    local format, names = ">", {}
    for _, item in ipairs(message.fields) do
      if item.bytes == 8 then  -- read as two words
        format, names[#names + 1], names[#names + 2] = format .. "I4I4", item.name .. "_high", item.name
      else
        format, names[#names + 1] = format .. "I" .. item.bytes, item.name
      end
    end
    return format, names
  end
  local header_format = reader_of(wire.messages.fc)
  local header_bytes = wire.messages.fc.size
  -- Device_Header: word 1 has a reserved half that no field covers, so that the fields are read one by one by offset.
  local unpack_header = Struct.unpack

  frame.header_bytes = header_bytes

  -- The frame that begins at `offset` and has `length` bytes on the wire, without CRC and delimiters. nil: no frame
  -- header, or none of an ordinary frame.
  function frame.parse(tvb, offset, length)
    local captured = tvb:len() - offset
    while length > header_bytes and captured > header_bytes do
      local r_ctl = tvb(offset, 1):uint()
      if r_ctl ~= 0x50 and r_ctl ~= 0x51 then break end  -- VFT, IFR: 8 bytes in front of the header
      offset, length, captured = offset + 8, length - 8, captured - 8
    end
    if length < header_bytes or captured < header_bytes then return nil end
    local h = {}
    h.raw = tvb:raw(offset, math.min(captured, header_bytes + 32))
    h.r_ctl, h.d_id, h.cs_ctl, h.s_id, h.type, h.f_ctl, h.seq_id, h.df_ctl, h.seq_cnt, h.ox_id, h.rx_id, h.parameter =
        unpack_header(header_format, h.raw)
    h.tvb, h.at = tvb, offset + header_bytes
    h.fill = bit32.band(h.f_ctl, wire.fill_bytes_mask)
    h.length = math.max(0, length - header_bytes - h.fill)    -- of the data field
    h.captured = math.min(h.length, captured - header_bytes)  -- of it
    h.is_cut = h.captured < h.length
    h.responder = bit32.band(h.f_ctl, wire.exchange_responder) ~= 0
    h.ends_sequence = bit32.band(h.f_ctl, wire.end_sequence) ~= 0
    h.first_sequence = bit32.band(h.f_ctl, wire.first_sequence) ~= 0
    h.last_sequence = bit32.band(h.f_ctl, wire.last_sequence) ~= 0
    h.gives_initiative = bit32.band(h.f_ctl, wire.sequence_initiative) ~= 0
    return h
  end

  -- The names in the order of frame.parse(): the generated layout and this file must agree.
  local expected = {"r_ctl", "d_id", "cs_ctl", "s_id", "type", "f_ctl", "seq_id", "df_ctl", "seq_cnt", "ox_id", "rx_id",
    "parameter"}
  local _, names = reader_of(wire.messages.fc)
  for i, name in ipairs(names) do assert(name == expected[i], "frame header: " .. name) end

  local at = {}
  for _, item in ipairs(wire.messages.device_header.fields) do at[item.name] = item.offset + 1 end
  assert(at.opcode == 5 and at.flags == 6, "Device_Header: opcode, flags")

  -- Bytes of Device_Header that DF_CTL announces (FC-FS).
  local function announced(df_ctl)
    local code = bit32.band(df_ctl, 3)
    return code == 0 and 0 or 8 * 2 ^ code
  end

  -- Reads the Device_Header of a FC-VI frame into h. `h.iu` is nil for an opcode that the standard does not have;
  -- `h.header` is nil where the header is not there as a whole.
  function frame.parse_device_header(h)
    local raw, from = h.raw, header_bytes
    h.announced = announced(h.df_ctl)
    if h.captured < at.flags then return end
    h.opcode, h.flags = raw:byte(from + at.opcode, from + at.flags)
    h.iu = wire.ius[h.opcode]
    local size = h.iu and h.iu.header or 0
    if size == 0 or h.captured < size or h.length < size then return end
    h.header = size
    h.handle = unpack_header(">I4", raw, from + at.handle)
    h.msg_id, h.fcvi_parameter = unpack_header(">I4", raw, from + at.msg_id), unpack_header(">I4", raw, from + at.parameter)
    if size == 32 then
      h.rmt_va_high, h.rmt_va = unpack_header(">I4I4", raw, from + at.rmt_va)
      h.rmt_va_handle = unpack_header(">I4", raw, from + at.rmt_va_handle)
      h.last_word = unpack_header(">I4", raw, from + at.tot_len_or_connection_id)
    end
    h.payload_at, h.payload = h.at + size, h.length - size
    h.payload_captured = math.max(0, h.captured - size)
  end

  function frame.has(h, flag) return bit32.band(h.flags, flag) ~= 0 end
end

-- An N_Port_ID as the ladder writes it.
local function id_text(id) return ("%06X"):format(id) end
local function hex_h(value) return ("%08Xh"):format(value) end

-- ---- indications and frames, in the order of the stream -----------------------------------------------------------------------
do
  local header_bytes, crc_bytes, indication_bytes = wire.messages.frame.size, wire.crc_bytes, wire.messages.adaption.size
  local stream_of = Field.new("tcp.stream")
  local crc32c = crc.new(0x82F63B78)
  local ddp      -- Wireshark's dissector of DDP and RDMAP
  local streams  -- of each TCP connection what each end's indication said, by the end
  layouts.check(wire.messages.frame, {{"header_size", 0, 2}, {"payload_size", 2, 2}, {"vtag", 4, 2}})
  layouts.check(wire.messages.adaption, {{"magic", 0, 4}, {"vtag", 12, 2}})
  local flag_of = {}
  for _, name in ipairs({"header_crc", "payload_crc", "ignores_header_crc", "ignores_payload_crc"}) do
    local item = layouts.item(wire.messages.adaption, name)
    flag_of[name] = function(tvb) return bit32.band(tvb(item.offset, item.bytes):uint(), item.mask) ~= 0 end
  end

  local function end_of(address, port) return tostring(address) .. " " .. port end
  local function ends_of(pinfo)
    local number = stream_of().value
    streams[number] = streams[number] or {}
    return streams[number], end_of(pinfo.src, pinfo.src_port), end_of(pinfo.dst, pinfo.dst_port)
  end
  local function terms_of(pinfo)
    local ends, source, destination = ends_of(pinfo)
    local said = ends[source]
    if said then return said.header_crc, said.payload_crc, ends[destination] end
    return ift.prefs.header_crc, ift.prefs.payload_crc, ends[destination]
  end

  local function is_indication(tvb) return tvb:len() >= 4 and tvb(0, 4):uint() == wire.magic end
  local function is_size(octets) return octets == wire.tagged_header_bytes or octets == wire.untagged_header_bytes end

  -- Octets of what begins at `offset`. A size that is none ends the stream: the rest is shown as it is.
  local function length_of(tvb, pinfo, offset)
    local here = tvb(offset):tvb()
    if here:len() < header_bytes then return here:reported_len() end  -- the capture has no more of it
    if is_indication(here) then return indication_bytes end
    local header, payload = here(0, 2):uint(), here(2, 2):uint()
    if not is_size(header) then return here:reported_len() end
    local has_header_crc, has_payload_crc = terms_of(pinfo)
    return header_bytes + header + payload + (has_header_crc and crc_bytes or 0) + (has_payload_crc and crc_bytes or 0)
  end

  local function add_crc(tree, field, tvb, at, covered_at, covered_bytes)
    local item = tree:add_le(field, tvb(at, crc_bytes))
    if not ift.prefs.check_crc then return end
    local octets = covered_bytes == 0 and "" or tvb:raw(covered_at, covered_bytes)
    local calculated = crc32c(octets)
    if covered_bytes == 0 then calculated = 0 end
    local right = calculated == tvb(at, crc_bytes):le_uint()
    tree:add(F["crc.status"], right and "right" or "wrong"):set_generated()
    if right then return end
    tree:add(F["crc.calculated"], calculated):set_generated()
    item:add_proto_expert_info(notes.bad_crc)
  end

  local function add_fields(tree, tvb, message)
    for _, item in ipairs(message.fields) do tree:add(item.field, tvb(item.offset, item.bytes)) end
  end

  local function show_indication(tvb, pinfo, tree)
    local ends, source = ends_of(pinfo)
    ends[source] = {vtag = tvb(12, 2):uint()}
    for name, flag in pairs(flag_of) do ends[source][name] = flag(tvb) end
    local item = tree:add(F.adaption, tvb(0, indication_bytes))
    add_fields(item, tvb, wire.messages.adaption)
    add_crc(item, F["adaption.crc"], tvb, indication_bytes - crc_bytes, 0, indication_bytes - crc_bytes)
    pinfo.cols.info:append(" Adaption indication")
    return indication_bytes
  end

  -- DDP header and payload, which a header CRC may part.
  local function segment_of(tvb, header, payload_at, payload)
    if payload_at == header_bytes + header then return tvb(header_bytes, header + payload):tvb() end
    local octets = ByteArray.new()
    octets:append(tvb(header_bytes, header):bytes())
    if payload > 0 then octets:append(tvb(payload_at, payload):bytes()) end
    return octets:tvb("DDP segment")
  end

  local function show_frame(tvb, pinfo, tree, root)
    local header, payload = tvb(0, 2):uint(), tvb(2, 2):uint()
    local has_header_crc, has_payload_crc, receiver = terms_of(pinfo)
    add_fields(tree, tvb, wire.messages.frame)
    if not is_size(header) then
      tree:add_proto_expert_info(notes.wrong_size)
      return tvb:len()
    end
    if receiver and receiver.vtag ~= tvb(4, 2):uint() then tree:add_proto_expert_info(notes.wrong_vtag) end
    local at = header_bytes + header
    tree:add(F.ddp_header, tvb(header_bytes, header))
    if has_header_crc then
      add_crc(tree, F.header_crc, tvb, at, 0, at)
      at = at + crc_bytes
    end
    if payload > 0 then tree:add(F.payload, tvb(at, payload)) end
    if has_payload_crc then add_crc(tree, F.payload_crc, tvb, at + payload, at, payload) end
    if ddp then ddp:call(segment_of(tvb, header, at, payload), pinfo, root) end
    return tvb:len()
  end

  local function show(tvb, pinfo, root)
    pinfo.cols.protocol = "IFT"
    local tree = root:add(ift, tvb())
    if tvb:len() < tvb:reported_len() then return tvb:len() end  -- the capture has no more of it
    if is_indication(tvb) then return show_indication(tvb, pinfo, tree) end
    return show_frame(tvb, pinfo, tree, root)
  end

  function ift.dissector(tvb, pinfo, root)
    dissect_tcp_pdus(tvb, root, header_bytes, length_of, show)
    return tvb:len()
  end

  -- A connection whose first octets are an indication.
  local function looks_like_indication(tvb, pinfo, root)
    if not is_indication(tvb) or tvb:reported_len() < indication_bytes then return false end
    pinfo.conversation = ift
    ift.dissector(tvb, pinfo, root)
    return true
  end

  function ift.init()
    streams = {}
    local found, dissector = pcall(Dissector.get, "iwarp_ddp_rdmap")
    ddp = found and dissector or nil
  end
  ift:register_heuristic("tcp", looks_like_indication)
  DissectorTable.get("tcp.port"):add_for_decode_as(ift)
end

-- ---- the tree and the columns ------------------------------------------------------------------------------------------
local dissect = {}

do
  local what_is_asked, forget = asked.new("vitcp", F)
  dissect.reset = forget
  local wanted_fields  -- nil: all
  local function wanted(field) return not wanted_fields or wanted_fields[field] end

  local function put(tree, field, tvb, at, bytes)
    if wanted_fields and not wanted_fields[field] then return tree end
    return tree:add(field, tvb(at, bytes))
  end
  -- What is not on the wire: such an item has no bytes.
  local function generated(tree, field, value)
    if wanted_fields and not wanted_fields[field] or value == nil then return tree end
    return tree:add(field, value):set_generated()
  end

  -- Fields of a layout; what was not captured, or is behind `limit`, is left out.
  local function add_items(tree, tvb, at, items, limit)
    for _, item in ipairs(items) do
      local from = at + item.offset
      if from + item.bytes <= limit then
        local node = put(tree, item.field, tvb, from, item.bytes)
        if item.fields then add_items(node, tvb, at, item.fields, limit) end
      end
    end
  end

  local function add_options(tree, tvb, at, list)
    for _, option in ipairs(list) do
      local from, bytes = at + option.at, option.length or wire.option_end_bytes
      local node = put(tree, F.option, tvb, from, bytes)
      if not wanted_fields then node:append_text(": " .. (wire.options[option.type] or "unknown")) end
      put(node, F["option.type"], tvb, from, 2)
      if option.length then put(node, F["option.length"], tvb, from + 2, 2) end
      if bytes > wire.option_header_bytes then
        put(node, F["option.data"], tvb, from + wire.option_header_bytes, bytes - wire.option_header_bytes)
      end
    end
  end

  local function add_following(tree, h, record, tvb, at, limit)
    local kind = h.info.following
    if kind == "none" or at >= limit then return end
    local message, path = wire.messages.rdma, "rdma"
    if kind == "CE header" then message, path = wire.messages.ce, "ce" end
    local node = put(tree, F[path], tvb, at, math.min(message.size, limit - at))
    add_items(node, tvb, at, message.fields, limit)
    local ce = record.ce
    if not ce then return end
    if ce.options then add_options(node, tvb, at + message.size, ce.options) end
  end

  local function add_trailer(tree, record, tvb, at, limit)
    local from = at + record.length - wire.trailer_bytes
    if not record.trailer or from + wire.trailer_bytes > limit then return end
    local node = tree
    if wanted(F.crc) then node = tree:add_le(F.crc, tvb(from, wire.trailer_bytes)) end
    local status = not record.calculated and "not checked" or record.is_bad and "wrong" or "right"
    if not wanted_fields then node:append_text(" (" .. status .. ")") end
    generated(node, F["crc.status"], status)
    if record.is_bad then generated(node, F["crc.calculated"], record.calculated) end
  end

  -- Where the payload is, and how much of it was captured; nil: none.
  local function payload_range(h, record, at, limit)
    if not h.info.has_payload then return nil end
    local from = at + wire.header_bytes + h.info.following_bytes
    local bytes = record.payload or math.max(record.length - wire.header_bytes - h.info.following_bytes, 0)
    return from, math.min(bytes, math.max(limit - from, 0)), bytes
  end

  local function add_payload(tree, h, record, tvb, at, limit)
    local from, there, bytes = payload_range(h, record, at, limit)
    if not from or there == 0 or not wanted(F.data) then return end
    put(tree, F.data, tvb, from, there):append_text((" (%d octets)"):format(bytes))
  end

  -- ---- what follows from other segments
  local function add_connection(tree, record)
    local flow = record.flow
    local connection = flow.connection
    local node = generated(tree, F.connection, connection.index)
    local caller = connection.caller or connection.one
    generated(node, F["connection.calling"], caller.name)
    generated(node, F["connection.called"], caller.peer.name)
    local ce = caller.ce or caller.peer.ce
    if ce then
      if wanted(F["connection.calling_discriminator"]) then
        generated(node, F["connection.calling_discriminator"], words.discriminator(ce.calling))
      end
      if wanted(F["connection.called_discriminator"]) then
        generated(node, F["connection.called_discriminator"], words.discriminator(ce.called))
      end
    end
    generated(node, F["connection.setup"], connection.setup)
    generated(node, F["connection.level"], connection.level and (wire.levels[connection.level] or "unknown"))
    generated(node, F["connection.mtu"], connection.mtu)
    generated(node, F["connection.crc"], connection.crc)
    generated(node, F["connection.descriptors"], record.descriptors)
    generated(node, F["connection.reads"], record.reads)
    if record.reads then generated(node, F["connection.read_window"], flow.peer.ce and flow.peer.ce.window) end
    generated(node, F["connection.unacknowledged"], record.unacknowledged)
  end

  local function add_time(tree, since, record)
    if not since or record.time < since or not wanted(F.time) then return end
    local time = record.time - since
    local seconds = math.floor(time)
    generated(tree, F.time, NSTime.new(seconds, math.floor((time - seconds) * 1e9 + 0.5)))
  end

  local function add_links(tree, h, record)
    if record.request then
      generated(tree, F.request_in, record.request)
      if record.ends_read or not record.message then add_time(tree, record.request_time, record) end
    end
    local message, connection = record.message, record.flow.connection
    if h.type == wire.read_request and message then generated(tree, F.response_in, message.answer) end
    if h.type == wire.connect_request and connection.setup == record.number then
      generated(tree, F.response_in, connection.request and connection.request.answer)
    end
    if message then generated(tree, F.acknowledged_in, message.acknowledged_in) end
    if record.acknowledges then
      generated(tree, F.acknowledges, record.acknowledges.ended_in or record.acknowledges.began_in)
      add_time(tree, record.acknowledges.end_time, record)
    end
  end

  local function add_message(tree, h, record, tvb, at, limit)
    local message = record.message
    if not message or not h.info.has_payload then return end
    local node = wanted(F.message) and tree:add(F.message):set_generated() or tree
    if not wanted_fields then node:append_text((" %08Xh"):format(message.number)) end
    generated(node, F["message.segments"], record.segment)
    generated(node, F["message.bytes"], record.bytes)
    if not h.ends then return end
    generated(node, F["message.complete"], message.is_complete == true)
    if wanted(F["message.frame"]) and message.frames then
      for _, number in ipairs(message.frames) do generated(node, F["message.frame"], number) end
    end
    if not wanted(F["message.data"]) or not message.is_complete then return end
    if message.data then
      put(node, F["message.data"], ByteArray.new(message.data, true):tvb("VI message"), 0, #message.data)
    elseif record.segment == 1 then
      local from, there, bytes = payload_range(h, record, at, limit)
      if there == bytes and bytes > 0 then put(node, F["message.data"], tvb, from, bytes) end
    end
  end

  local function add_notes(tree, record)
    for _, found in ipairs(record.notes or {}) do
      generated(tree, F.violation, found.key):add_proto_expert_info(experts[found.key].expert, found.text)
    end
  end

  -- Keeps the payload of a segment for the whole message. `limit`: where what was captured ends.
  local function keep(h, record, tvb, at, limit)
    if not record.message or not h.info.has_payload then return end
    local from, there, bytes = payload_range(h, record, at, limit)
    reassembly.add(record, there == bytes and (bytes == 0 and "" or tvb:raw(from, bytes)) or nil, h.ends)
  end

  -- ---- columns
  -- Several segments may stand in a frame, and several calls be made for it.
  -- What is put together stands before the rest of its frame.
  local function add_info(pinfo, tvb, record, text)
    local columns = pinfo.cols
    if record.is_first then
      columns.protocol, columns.info = "VI/TCP", text
    else
      columns.info:append("; " .. text)
    end
    if tvb:offset() == 0 then columns.info:fence() end
  end

  local function add_segment(tree, h, record, tvb, at, limit, text)
    local node = tree:add(vitcp, tvb(at, limit - at))
    if not wanted_fields then node:append_text(", " .. text) end
    add_items(node, tvb, at, wire.messages.header.fields, limit)
    if h.info then
      generated(node, F.segment, h.info.name)
      add_following(node, h, record, tvb, at + wire.header_bytes, limit)
      add_payload(node, h, record, tvb, at, limit)
      add_trailer(node, record, tvb, at, limit)
      add_connection(node, record)
      add_links(node, h, record)
      add_message(node, h, record, tvb, at, limit)
    end
    add_notes(node, record)
  end

  local has_window = gui_enabled()
  local function show_segment(h, record, tvb, pinfo, tree, visited)
    local at, limit = record.at, tvb:len()
    if limit > at + record.bytes_here then limit = at + record.bytes_here end
    local text = words.of(h, record, record.payload)
    add_info(pinfo, tvb, record, text)
    local found = what_is_asked(tree, visited)
    wanted_fields = found ~= true and found or nil
    if h.info and (has_window and not visited or not has_window and found and wanted(F["message.data"])) then
      keep(h, record, tvb, at, limit)
    end
    if found then
      add_segment(tree, h, record, tvb, at, limit, text)
    elseif record.notes then
      wanted_fields = nil
      add_notes(tree:add(vitcp, tvb(at, limit - at)), record)
    end
  end

  local function parsed(record, tvb)
    local raw = tvb:raw(record.at, math.min(record.bytes_here, tvb:len() - record.at, wire.header_bytes + wire.messages.rdma.size))
    local h = segment.parse(raw)
    if h.info and h.info.has_rdma then segment.parse_rdma(h, raw) end
    return h
  end

  local continued = {rest = "continuation", again = "octets that were there before"}
  local function show_rest(record, tvb, pinfo, tree, visited)
    local text = continued[record.kind]
    if record.is_first then add_info(pinfo, tvb, record, text) end
    local found = what_is_asked(tree, visited)
    local there = math.min(record.bytes_here, tvb:len() - record.at)
    if not found or there <= 0 then return end
    wanted_fields = found ~= true and found or nil
    local node = tree:add(vitcp, tvb(record.at, there))
    if not wanted_fields then node:append_text(", " .. text) end
    put(node, F.continuation, tvb, record.at, there)
    add_connection(node, record)
  end

  -- The records of one call. `h`: the header of the only one, if it was parsed just now.
  function dissect.show(record, h, tvb, pinfo, tree, visited)
    while record do
      if record.kind == "rest" or record.kind == "again" then
        show_rest(record, tvb, pinfo, tree, visited)
      elseif not record.kind then
        show_segment(h or parsed(record, tvb), record, tvb, pinfo, tree, visited)
      end
      record = record.following
    end
  end
end

-- ---- the octets that TCP hands over ----------------------------------------------------------------------------------------
-- The tables of a capture live as long as it is open: to walk through them often finds nothing.
collectgarbage("setpause", 400)

do
  local one_more_segment = DESEGMENT_ONE_MORE_SEGMENT or 0x0FFFFFFF
  local header_bytes, version, connect_request = wire.header_bytes, wire.version, wire.connect_request
  local head_bytes = header_bytes + wire.messages.rdma.size  -- what is looked at of a segment without CRC
  local calls     -- the first record of each call, by frame and place in it
  local seen_in   -- the frame of the latest call

  -- ---- one call, when it is made for the first time
  -- Appends a record for `bytes` octets from `at` on.
  local function append(call, record, at, bytes)
    record.at, record.bytes_here = at, bytes
    if call.last then
      call.last.following = record
    else
      call.first = record
      record.is_first = seen_in ~= call.number
      seen_in = call.number
    end
    call.last = record
    return record
  end
  local function append_rest(call, kind, at, bytes)
    append(call, {kind = kind, number = call.number, flow = call.flow}, at, bytes)
  end

  -- Octets that belong to no segment that is known: what they say is not known either.
  local function pass_over(call, at)
    local left = call.reported - at
    stream.lose(call.one)
    track.forget(call.flow)
    append_rest(call, "rest", at, left)
    stream.pass(call.one, left)
  end

  local function wait(call, at, bytes, length)
    local left = call.reported - at
    stream.wait(call.one, call.tvb:raw(at, left), left, length)
    append_rest(call, "wait", at, left)
    call.first.wait_at, call.first.wait_bytes = at, bytes
  end

  local function urgent(call, record, length)
    local octet = stream.urgent_octet(call.one, length)
    if not octet then return end
    local taker = call.flow.peer.ce
    if octet > 0 then
      note(record, "urgent_data", ("octet %d of the segment"):format(octet))
    elseif taker and taker.options and not taker.options.urgent_marker then
      note(record, "urgent_data", "the receiver does not take urgent marks")
    end
  end

  -- The segment at `at`, of which `length` octets are there to be read; `raw` has its headers. Returned: where the next one begins.
  local function take(call, h, raw, at, length)
    local one, there = call.one, call.captured - at
    if there > length then there = length end
    local is_whole = there == h.length
    if h.info and (h.info.is_connection or is_whole and call.flow.connection.crc ~= false) then raw = call.tvb:raw(at, there) end
    local record = track.read(h, call.flow, raw, call.pinfo, is_whole)
    record.length = h.length
    if one.urgent then urgent(call, record, length) end
    append(call, record, at, length)
    stream.take(one, h.length)
    stream.pass(one, length)
    return at + length
  end

  -- What begins at `at`. Returned: where the next one begins; nil: no further.
  local function next_segment(call, at)
    local one, left, there = call.one, call.reported - at, call.captured - at
    if there < header_bytes then
      if there == left and call.pinfo.can_desegment > 0 then wait(call, at, one_more_segment) else pass_over(call, at) end
      return nil
    end
    local raw = call.tvb:raw(at, there < head_bytes and there or head_bytes)
    if one.in_doubt and not segment.is_plausible(raw) then
      pass_over(call, at)
      return nil
    end
    local h = segment.parse(raw)
    local length = h.length
    if h.type == connect_request then call.flow = track.renewed(call.flow, h, call.pinfo) end
    local is_readable = h.version == version and h.info and length >= header_bytes
    one.in_doubt = not is_readable
    if length > left and is_readable and there == left and call.pinfo.can_desegment > 0 then
      wait(call, at, length - left, length)
      return nil
    end
    call.h = h
    if length >= header_bytes then return take(call, h, raw, at, length < left and length or left) end
    local behind = take(call, h, raw, at, left)
    stream.lose(one)
    return behind
  end

  -- Whether a segment begins at `at`, where that is not known from what came before; the same of the one behind it, if it is there.
  local function looks_like_begin(call, at)
    if call.captured - at < header_bytes then return false end
    local raw = call.tvb:raw(at, header_bytes)
    if not segment.is_plausible(raw) then return false end
    local behind = at + segment.parse(raw).length
    return call.captured - behind < header_bytes or segment.is_plausible(call.tvb:raw(behind, header_bytes))
  end

  -- A connection whose first octets are none of a segment is another protocol's. A ConnectRequest may have another version.
  local function is_ours(call, at)
    if call.flow.connection.claimed then return true end
    if looks_like_begin(call, at) then return true end
    if call.captured - at < header_bytes then return call.one.synced and call.tvb:raw(at, 1):byte() == wire.version end
    if not call.one.synced then return false end
    local h = segment.parse(call.tvb:raw(at, header_bytes))
    local is_request = h.type == wire.connect_request and h.offset == 0 and h.immediate == 0 and h.error == 0
    return h.version == wire.version or is_request and h.length >= header_bytes + wire.messages.ce.size
  end

  -- One table for all calls.
  local shared = {}
  local function new_call(tvb, pinfo, number, reported, captured)
    local call, flow = shared, track.flow_of(pinfo)
    call.tvb, call.pinfo, call.number, call.reported, call.captured = tvb, pinfo, number, reported, captured
    call.flow, call.one, call.first, call.last, call.h = flow, flow.stream, nil, nil, nil
    return call
  end

  -- Returned: the first record of the call, nil where it is not ours; and the header of the only one.
  local function read(call, tvb, number, reported)
    local flow, one = call.flow, call.one
    local at, has_gap = stream.begin(one, number, tvb, reported)
    if has_gap then track.forget(flow) end
    if stream.acknowledges_unseen(flow.peer.stream) then track.forget(flow.peer) end
    if at > 0 then append_rest(call, "again", 0, at) end
    if at == reported then return call.first end
    if not is_ours(call, at) then
      stream.pass(one, reported - at)
      stream.lose(one)
      return nil
    end
    track.claim(flow.connection)
    if not one.synced and looks_like_begin(call, at) then stream.find(one) end
    local rest = stream.behind(one, reported - at)
    if rest > 0 then
      append_rest(call, "rest", at, rest)
      stream.pass(one, rest)
      at = at + rest
    end
    while at and at < reported do at = next_segment(call, at) end
    return call.first, call.first == call.last and call.h or nil
  end

  -- ---- every call
  function vitcp.dissector(tvb, pinfo, tree)
    local reported, captured = tvb:reported_len(), tvb:len()
    if reported == 0 or captured == 0 then return 0 end
    local number = pinfo.number
    local key = number * 1048576 + tvb:offset()
    local first, h, visited = calls[key], nil, pinfo.visited
    if first == nil then
      if visited then return 0 end
      first, h = read(new_call(tvb, pinfo, number, reported, captured), tvb, number, reported)
      first = first or false
      calls[key] = first
    end
    if not first then return 0 end
    dissect.show(first, h, tvb, pinfo, tree, visited)
    if first.wait_at then pinfo.desegment_offset, pinfo.desegment_len = first.wait_at, first.wait_bytes end
    return captured
  end

  -- Of other ports: a client sends its ConnectRequest, and waits for the answer.
  local function looks_like_request(tvb, pinfo, tree)
    if not vitcp.prefs.heuristic or tvb:len() ~= tvb:reported_len() then return false end
    if tvb:len() < header_bytes or not segment.is_request(tvb:raw()) then return false end
    pinfo.conversation = vitcp
    vitcp.dissector(tvb, pinfo, tree)
    return true
  end

  local ports = DissectorTable.get("tcp.port")
  local registered
  local function register_ports()
    local wanted = vitcp.prefs.ports
    if wanted == registered then return end
    if registered and registered ~= "" then ports:remove(registered, vitcp) end
    if wanted ~= "" then ports:add(wanted, vitcp) end
    registered = wanted
  end

  function vitcp.init()
    calls, seen_in = {}, nil
    track.reset()
    reassembly.reset()
    dissect.reset()
    statistics.reset()
  end
  function vitcp.prefs_changed()
    register_ports()
    statistics.prepare()
  end
  register_ports()
  vitcp:register_heuristic("tcp", looks_like_request)
end

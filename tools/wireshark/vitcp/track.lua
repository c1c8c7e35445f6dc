-- ---- tracking: the entrance ---------------------------------------------------------------------------------------------------
-- Wireshark shows frames in any order, but reads them in the capture's order once. Then a record is made of each segment, from
-- which everything else is shown. Records of one call of the dissector are a list (`following`).
do
  local connections, by_stream, check_crc

  local crc_of = crc.new(0x82608EDB)  -- VI-TCP 3.6, ruling V-20: DB710641h as the bits are transmitted
  local guesses = 2  -- segments of which it is tried out whether they have a CRC

  function track.reset()
    connections, by_stream = {}, {}
    check_crc = vitcp.prefs.check_crc
  end

  local function new_flow(connection, from_start)
    return {stream = stream.new(from_start), connection = connection, reads = {}, read_count = 0, reads_are_known = from_start,
      unacknowledged = {first = 1, last = 0}, headless = true, is_torn = not from_start}
  end

  -- ---- connections
  local function end_text(address, port)
    address = tostring(address)
    return (address:find(":", 1, true) and "[%s]:%d" or "%s:%d"):format(address, port)
  end

  local function new_connection(pinfo)
    local from_start = stream.saw_syn()
    local connection = {index = nil, from_start = from_start, port = pinfo.src_port, claimed = false}
    local one, other = new_flow(connection, from_start), new_flow(connection, from_start)
    one.peer, other.peer = other, one
    one.name, other.name = end_text(pinfo.src, pinfo.src_port), end_text(pinfo.dst, pinfo.dst_port)
    connection.one, connection.other = one, other
    connection.same_ports = pinfo.src_port == pinfo.dst_port
    return connection
  end

  -- Where there is no number of the TCP stream.
  local function key_of(pinfo)
    local one, other = end_text(pinfo.src, pinfo.src_port), end_text(pinfo.dst, pinfo.dst_port)
    return one < other and one .. " " .. other or other .. " " .. one
  end

  -- The direction of the frame: its connection is that of the TCP stream.
  function track.flow_of(pinfo)
    local number = stream.number() or key_of(pinfo)
    local connection = by_stream[number]
    if not connection then
      connection = new_connection(pinfo)
      connection.key = type(number) == "string" and number or nil
      by_stream[number] = connection
    end
    local is_one
    if connection.same_ports then
      is_one = end_text(pinfo.src, pinfo.src_port) == connection.one.name
    else
      is_one = pinfo.src_port == connection.port
    end
    return is_one and connection.one or connection.other
  end

  -- Without the numbers of TCP streams a second ConnectRequest is that of a new connection between the same ports. Returned: the
  -- flow that takes the place of this one.
  function track.renewed(flow, h, pinfo)
    local before = flow.connection
    if not before.key or not before.state or h.type ~= wire.connect_request then return flow end
    local connection = new_connection(pinfo)
    connection.key, connection.one.stream, connection.other.stream = before.key, flow.stream, flow.peer.stream
    by_stream[before.key] = connection
    track.claim(connection)
    return connection.one
  end

  -- It is one of VI over TCP.
  function track.claim(connection)
    if connection.claimed then return end
    connection.claimed = true
    connection.index = #connections + 1
    connections[connection.index] = connection
  end

  -- Octets are missing: what came before says nothing of what follows.
  function track.forget(flow)
    flow.number, flow.open, flow.response, flow.headless, flow.is_torn = nil, nil, nil, true, true
    flow.acked, flow.acks_end, flow.unacknowledged = nil, nil, {first = 1, last = 0}
    flow.reads, flow.read_count, flow.reads_are_known = {}, 0, false
    flow.consumed, flow.peer.consumed, flow.peer.acked = nil, nil, nil
    local connection = flow.connection
    if connection.state == "requested" then connection.state = nil end  -- the answer may be among them
    if not connection.state then connection.from_start = false end
  end

  -- ---- the trailer
  local function matches(raw, record)
    local covered = #raw - wire.trailer_bytes
    record.calculated, record.crc = crc_of(raw:sub(1, covered)), Struct.unpack("<I4", raw, covered + 1)
    return record.calculated == record.crc
  end

  -- Where the capture does not have the set-up: a right CRC shows that segments have one.
  local function guess(connection, h, record, raw, is_whole)
    if h.type == wire.nop then
      connection.crc = h.length > wire.header_bytes
    elseif is_whole and (connection.guesses or 0) < guesses and h.length >= h.info.least + wire.trailer_bytes then
      connection.guesses = (connection.guesses or 0) + 1
      if matches(raw, record) then
        connection.crc = true
      elseif connection.guesses == guesses then
        connection.crc = false
      end
    end
    return connection.crc
  end

  -- Whether a CRC ends the segment: nil where that is not known.
  local function has_trailer(connection, h, record, raw, is_whole)
    local rule = h.info.trailer
    if rule == "by length" then return h.length == wire.header_bytes + wire.trailer_bytes end
    if rule == "by option" then
      if record.ce and record.ce.options then return record.ce.trailer == true end
      return nil
    end
    if connection.crc == nil then return guess(connection, h, record, raw, is_whole) end
    return connection.crc
  end

  local function trailer(connection, h, record, raw, is_whole)
    local has = has_trailer(connection, h, record, raw, is_whole)
    record.trailer = has
    if not has or not is_whole or not check_crc or h.length < wire.header_bytes + wire.trailer_bytes then return has end
    if not matches(raw, record) then
      note(record, "bad_crc", ("%08Xh, it has to be %08Xh"):format(record.crc, record.calculated))
      record.is_bad = true
    end
    return has
  end

  -- ---- one segment
  -- Octets of payload, nil where it is not known whether a CRC follows it.
  local function payload_of(h, record, has)
    if has == nil and h.info.trailer == "as agreed" then return nil end
    local payload = h.length - h.info.least - (has and wire.trailer_bytes or 0)
    if payload < 0 or payload > 0 and not h.info.has_payload then
      note(record, "wrong_length", ("%d octets, %s CRC"):format(h.length, has and "with" or "without"))
      return nil, true
    end
    return payload
  end

  local function of_connection(h, record, flow, raw, is_whole)
    setup.handlers[h.type](h, record, flow, raw, is_whole)
    trailer(flow.connection, h, record, raw, is_whole)
  end

  local function of_message(h, record, flow, raw, is_whole)
    local connection = flow.connection
    local payload, misfit = payload_of(h, record, trailer(connection, h, record, raw, is_whole))
    record.payload = payload
    -- VI-TCP 3.6: a segment with a wrong CRC ends the connection, or flags its message; its fields say nothing.
    if not setup.allows(record, connection, h.info.name) then return end
    if misfit or record.is_bad or h.info.has_rdma and not segment.parse_rdma(h, raw) then
      track.forget(flow)
      return
    end
    messages.handlers[h.type](h, record, flow, payload)
    acks.read(h, record, flow)
    local left = acks.left(flow.peer)
    record.descriptors, record.reads = left, flow.read_count > 0 and flow.read_count or nil
    local list = flow.unacknowledged
    record.unacknowledged = list.last >= list.first and connection.level and list.last - list.first + 1 or nil
  end

  -- The segment that begins `raw`: as much as was captured of it. `is_whole`: all of it. Returned: its record.
  function track.read(h, flow, raw, pinfo, is_whole)
    local record = {number = pinfo.number, time = pinfo.rel_ts, flow = flow}
    if not segment.check(h, record) then
      track.forget(flow)
      return record
    end
    if h.info.is_connection then
      of_connection(h, record, flow, raw, is_whole)
    else
      of_message(h, record, flow, raw, is_whole)
    end
    track.counted(h, record)
    return record
  end
end

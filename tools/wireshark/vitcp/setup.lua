-- ---- tracking: the set-up of a connection (VI-TCP 4) ---------------------------------------------------------------------
-- A connection: `request` and `answer` are the records of its set-up, `state` is nil where the capture does not have it,
-- "requested", "connected" or "refused". Each of its flows keeps the CE header of its sender.
local setup = {handlers = {}}
local track = {}  -- what the parts before track.lua call; statistics.lua adds what it wants to hear of

do
  -- The octets behind the segment header, as far as they were captured; `is_whole`: all are there. Leaves ce.trailer: there is a CRC.
  local function read_ce(h, record, raw, is_whole)
    local octets = raw:sub(wire.header_bytes + 1)
    local ce = segment.parse_ce(octets)
    if not ce then return nil end
    record.ce = ce
    segment.check_ce(ce, record)
    if not is_whole then return ce end
    ce.options = options.parse(octets:sub(wire.messages.ce.size + 1), record)
    if not ce.options.crc then return ce end
    ce.trailer = true
    if ce.options.ends and #octets - wire.messages.ce.size - ce.options.bytes < wire.trailer_bytes then
      note(record, "wrong_length", "the CRC is missing")
      ce.trailer = false
    end
    return ce
  end

  -- VI-TCP 3.2, rulings V-4 and V-6: numbers begin with the connection segment.
  local function begin_flow(flow, h, ce)
    flow.ce = ce
    flow.number, flow.acked, flow.headless = h.number, h.number, false
    flow.posted, flow.consumed = h.posted, 0
  end

  local function request(h, record, flow, raw, is_whole)
    local connection = flow.connection
    local ce = read_ce(h, record, raw, is_whole)
    if connection.state then
      note(record, "repeated_setup", ("the set-up is that of frame %d"):format(connection.setup))
      return
    end
    connection.state, connection.setup, connection.caller = "requested", record.number, flow
    connection.request = {number = record.number, time = record.time, crc = ce and ce.options and ce.options.crc}
    if ce then begin_flow(flow, h, ce) end
  end

  -- What ConnectAccept may not say to a request.
  local function compare(asked, ce, connection, record)
    if ce.level ~= asked.level then
      note(record, "wrong_answer", (wire.levels[ce.level] or "unknown level") .. ", asked for " .. (wire.levels[asked.level] or "unknown level"))
    elseif ce.peer_to_peer ~= asked.peer_to_peer then
      note(record, "wrong_answer", "peer-to-peer in one of the two")
    end
    if ce.mtu > asked.mtu then note(record, "wrong_mtu", ("%.0f, proposed were %.0f"):format(ce.mtu, asked.mtu)) end
    if ce.options and ce.options.crc and asked.options and not connection.request.crc then
      note(record, "wrong_option", "CRC, which was not asked for")
    end
  end

  -- Whether the answer is one to a request, and the first.
  local function is_answer(record, flow, name)
    local connection = flow.connection
    if connection.state ~= "requested" then
      if connection.state then
        note(record, "repeated_setup", ("%s, the answer is in frame %d"):format(name, connection.answer or connection.setup))
      elseif connection.from_start then
        note(record, "no_request", name)
      else
        return true  -- the request was before the capture
      end
      return false
    end
    if connection.caller == flow then
      note(record, "wrong_answer", name .. " of who asked")
      return false
    end
    return true
  end

  local function answered(record, connection)
    connection.answer = record.number
    local asked = connection.request
    if not asked then return end
    record.request, record.request_time, asked.answer = asked.number, asked.time, record.number
  end

  local function accept(h, record, flow, raw, is_whole)
    local connection, asked = flow.connection, flow.peer.ce
    local ce = read_ce(h, record, raw, is_whole)
    if not is_answer(record, flow, h.info.name) then return end
    answered(record, connection)
    connection.state, connection.setup = "connected", connection.setup or record.number
    if not ce then return end
    begin_flow(flow, h, ce)
    connection.level, connection.mtu = ce.level, ce.mtu
    if ce.options and not (connection.request and not asked) then
      connection.crc = ce.options.crc == true and (not connection.request or connection.request.crc == true)
    end
    if asked then compare(asked, ce, connection, record) end
    track.established(connection, record)
  end

  local function refusal(h, record, flow)
    if not is_answer(record, flow, h.info.name) then return end
    flow.connection.state = "refused"
    answered(record, flow.connection)
    track.refused(h)
  end

  -- A segment that is none of the set-up. False: it belongs to no connection.
  function setup.allows(record, connection, name)
    local state = connection.state
    if state == "requested" then
      note(record, "early_data", name)
    elseif state == "refused" then
      note(record, "after_refusal", ("it was in frame %d"):format(connection.answer))
      return false
    elseif not state and connection.from_start then
      note(record, "no_request", name)
      connection.from_start = false  -- said once
    end
    return true
  end

  setup.handlers[wire.connect_request] = request
  setup.handlers[wire.connect_accept] = accept
  setup.handlers[wire.connect_reject] = refusal
  setup.handlers[wire.connect_no_match] = refusal
end

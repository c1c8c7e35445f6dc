-- ---- tracking: connections, Exchanges, messages ---------------------------------------------------------------------
-- Wireshark shows frames in any order, but reads them in the capture's order once: then a record of each frame is made,
-- from which everything else is shown. A capture of both ends of a link has most frames twice, as sent and as received.
-- What a frame does to a connection counts once; what can be missing or out of order (SEQ_CNT, offsets, message numbers)
-- is followed for each view by itself: "s" frames that were sent, "r" received, "u" where the capture does not tell.
local track = {}

do
  local band = bit32.band
  local state
  local header_from, header_to = frame.header_bytes + 1, frame.header_bytes + wire.messages.device_header.size
  local default_r_a_tov = 10  -- seconds, where no FLOGI tells

  local function exchanges_of(originator)
    local list = state.exchanges[originator]
    if not list then
      list = {}
      state.exchanges[originator] = list
    end
    return list
  end

  -- The Exchange of a frame; its responder is part of the key, since OX_IDs count for each pair of ports.
  local function exchange_key(h)
    if h.responder then return exchanges_of(h.d_id), h.s_id * 65536 + h.ox_id end
    return exchanges_of(h.s_id), h.d_id * 65536 + h.ox_id
  end

  local function pair_of(a, b)
    if a < b then return a * 16777216 + b end
    return b * 16777216 + a
  end
  -- The login of the two ports is in the capture: what they say afterwards is known from its beginning.
  local function is_whole(h) return state.logins[pair_of(h.s_id, h.d_id)] ~= nil end

  local function endpoint(port, handle)
    local handles = state.ports[port]
    return handles and handles[handle]
  end
  local function add_endpoint(port, handle, connection)
    local handles = state.ports[port]
    if not handles then
      handles = {}
      state.ports[port] = handles
    end
    -- `messages`: those sent to it, by number; `views`: which of them comes next.
    local made = {port = port, handle = handle, connection = connection, messages = {}, views = {}, open = 0}
    handles[handle] = made
    return made
  end

  local function new_connection(record)
    local connection = {index = #state.connections + 1, first = record.number}
    state.connections[connection.index] = connection
    return connection
  end

  local function join(one, other)
    one.peer, other.peer = other, one
  end

  -- An endpoint of which the capture has no set-up. Its other end is learnt from answers.
  local function implied_endpoint(port, handle, record)
    local connection = new_connection(record)
    connection.implied = true
    return add_endpoint(port, handle, connection)
  end

  -- Of an implied connection the other end becomes known.
  local function learn_peer(one, port, handle, record)
    local other = endpoint(port, handle)
    if not other then
      other = add_endpoint(port, handle, one.connection)
    elseif other.peer then
      return
    else
      other.connection = one.connection
    end
    join(one, other)
    record.connection = one.connection
  end

  local function set_level(connection, level)
    if not connection.level then connection.level = level end
  end

  -- ---- the numbers of a Sequence, in one view
  -- `flow`: {messages or answers of one kind}; expects the next SEQ_CNT and relative offset.
  local function follow(flow, h, record, headless)
    local in_order = state.in_order ~= false
    if not flow.count then
      if headless then
        flow.broken = true
      elseif in_order and h.seq_cnt ~= 0 and not h.responder then
        note(record, "seq_cnt_gap", ("expected 0, got %d"):format(h.seq_cnt))
        flow.broken = true
      elseif in_order and h.parameter ~= 0 then
        note(record, "offset_gap", ("expected 0, got %.0f"):format(h.parameter))
        flow.broken = true
      end
    elseif in_order then
      local wanted = band(flow.count + 1, 0xFFFF)
      if h.seq_cnt ~= wanted then
        note(record, "seq_cnt_gap", ("expected %d, got %d"):format(wanted, h.seq_cnt))
        flow.broken = true
      elseif h.parameter ~= flow.offset then
        note(record, "offset_gap", ("expected %.0f, got %.0f"):format(flow.offset, h.parameter))
        flow.broken = true
      elseif flow.in_sequence and h.seq_id ~= flow.seq_id then
        note(record, "wrong_seq_id", ("%02Xh, without End_Sequence of %02Xh"):format(h.seq_id, flow.seq_id))
      end
    end
    flow.count, flow.offset = h.seq_cnt, h.parameter + h.payload
    flow.seq_id, flow.in_sequence = h.seq_id, not h.ends_sequence
    flow.bytes = (flow.bytes or 0) + h.payload
    flow.time = record.time
    local frames = flow.frames
    if not frames then
      frames = {}
      flow.frames = frames
    end
    frames[#frames + 1] = record.number
  end

  -- Data of `total` bytes: end, length, whether it is whole. `is_end`: this frame ends request or response.
  local function measure(flow, h, record, total, is_end)
    local last = h.parameter + h.payload
    if last > total then
      note(record, "beyond_length", ("%.0f of %.0f bytes"):format(last, total))
    elseif is_end and last ~= total then
      note(record, "wrong_payload_length", ("the message ends after %.0f of %.0f bytes"):format(last, total))
    elseif not is_end and last == total and state.in_order ~= false then
      note(record, "wrong_f_ctl", "the last bytes of the message, but it goes on")
    end
    if is_end then flow.ended = true end
    if flow.ended and flow.bytes >= total and not flow.complete then
      flow.complete = true
      flow.completed_in = record.number
    end
  end

  -- ---- requests
  local function next_of(endpoint_to, view)
    local next_message = endpoint_to.views[view]
    if not next_message then
      -- Of a connection that was set up in the capture the first message is 1 (FC-VI 5.9.6).
      next_message = {id = not endpoint_to.connection.implied and 1 or nil}
      endpoint_to.views[view] = next_message
    end
    return next_message
  end

  local function distance(from, to)
    local steps = (to - from) % 4294967296
    return steps < 2147483648 and steps or steps - 4294967296
  end

  -- A message begins in a view: after which one.
  local function begin_in_view(message, h, view, record)
    local awaited = next_of(message.to, view)
    local before = awaited.message
    if state.in_order ~= false then
      local steps = awaited.id and distance(awaited.id, message.id) or 0
      if steps ~= 0 then
        note(record, "message_order", ("expected %.0f, got %.0f"):format(awaited.id, message.id))
      end
      if before and not before.complete and not before.broken and steps >= 0 then
        note(record, "message_incomplete", ("message %.0f had %.0f of %.0f bytes"):format(before.id, before.bytes or 0,
          before.total))
      end
      if steps >= 0 then
        awaited.id = (message.id + 1) % 4294967296
      end
    elseif before and not before.complete and record.time - before.time > state.r_a_tov then
      note(record, "message_incomplete", ("message %.0f had %.0f of %.0f bytes after R_A_TOV"):format(before.id,
        before.bytes or 0, before.total))
      before.complete = true  -- said once
    end
    local headless = not awaited.message and message.to.connection.implied and not message.begun
    local flow = {id = message.id, total = message.total, time = record.time, headless = headless}
    -- Out of order an incomplete message stays the one that is waited for.
    if state.in_order ~= false or not before or before.complete then awaited.message = flow end
    return flow
  end

  local function request_in_view(message, h, view, record)
    local flow = message.flows[view]
    if not flow then
      flow = begin_in_view(message, h, view, record)
      message.flows[view] = flow
    end
    follow(flow, h, record, flow.headless)
    record.flow = flow
    if message.iu.payload ~= "message_data" then
      flow.complete = true
      return
    end
    measure(flow, h, record, message.total, h.ends_sequence and (h.last_sequence or h.gives_initiative))
  end

  local reads = {}  -- whether an IU asks for an RDMA Read
  for opcode, iu in pairs(wire.ius) do reads[opcode] = iu.name == "FCVI_READ_RQST" end

  local level_names = {}
  for code, name in pairs(wire.levels) do level_names[name] = code end
  local unreliable, reliable, reception = level_names.unreliable_delivery, level_names.reliable_delivery,
      level_names.reliable_reception
  assert(unreliable and reliable and reception)

  local function allowed(message, h, record)
    local connection, to = message.to.connection, message.to
    if connection.level == unreliable and reads[h.opcode] then
      note(record, "not_allowed", "an RDMA Read at unreliable_delivery")
    elseif to.attributes then
      if reads[h.opcode] and not to.attributes.read then
        note(record, "not_allowed", "the receiver does not take RDMA Reads")
      elseif h.iu.name == "FCVI_WRITE_RQST" and not to.attributes.write then
        note(record, "not_allowed", "the receiver does not take RDMA Writes")
      elseif message.total > to.attributes.max_transfer_size then
        note(record, "too_large", ("%.0f bytes, FCVI_MAX_TRANS_SIZE is %.0f"):format(message.total,
          to.attributes.max_transfer_size))
      end
    end
    local from = to.peer
    if from and from.closed and state.in_order ~= false then
      note(record, "after_disconnect", ("it was in frame %d"):format(from.closed))
    end
    -- Every message is answered at Reliable Reception: so many may be open.
    if connection.level == reception then
      to.open = to.open + 1
      if connection.window and to.open > connection.window then
        note(record, "window", ("%d open, the window is %.0f"):format(to.open, connection.window))
      end
    end
  end

  local function new_message(h, to, record)
    local message = {id = h.msg_id, iu = h.iu, opcode = h.opcode, to = to, number = record.number, time = record.time,
      total = h.last_word, rmt_va = h.rmt_va, rmt_va_high = h.rmt_va_high, rmt_va_handle = h.rmt_va_handle,
      flags = h.flags, parameter = h.fcvi_parameter, flows = {}, header = h.raw:sub(header_from, header_to), begun = h.seq_cnt == 0 and h.parameter == 0}
    to.messages[message.id] = message
    return message
  end

  local function compare(message, h, record)
    local what
    if h.last_word ~= message.total then
      what = ("FCVI_TOT_LEN %.0f, was %.0f"):format(h.last_word, message.total)
    elseif h.rmt_va ~= message.rmt_va or h.rmt_va_high ~= message.rmt_va_high then
      what = "FCVI_RMT_VA"
    elseif h.rmt_va_handle ~= message.rmt_va_handle then
      what = "FCVI_RMT_VA_HANDLE"
    elseif h.flags ~= message.flags or h.fcvi_parameter ~= message.parameter then
      what = "Immediate Data"
    end
    if what then note(record, "message_changed", what) end
  end

  local function learn_level(connection, h)
    if connection.level or not h.ends_sequence or reads[h.opcode] then return end
    if h.gives_initiative and not h.last_sequence then
      set_level(connection, reception)
    elseif h.last_sequence and not connection.without_response then
      connection.without_response = true  -- unreliable or reliable delivery: the frames do not tell
    end
  end

  -- 5.8.4: a request that is not answered ends its Exchange; one that is answered passes the initiative.
  local function end_of_request(message, h, record)
    local connection = message.to.connection
    learn_level(connection, h)
    if not h.ends_sequence or message.iu.payload ~= "message_data" then return end
    if connection.level == reception and h.last_sequence then
      note(record, "wrong_f_ctl", "Last_Sequence, but a response is owed")
    elseif connection.level and connection.level ~= reception and h.gives_initiative and not h.last_sequence then
      note(record, "wrong_f_ctl", "Sequence Initiative is transferred, but there is no response")
    end
  end

  local function receiver_of(h, record)
    if h.handle == wire.unassigned then
      note(record, "wrong_handle", "FFFFFFFFh is not assigned")
      return nil
    end
    local to = endpoint(h.d_id, h.handle)
    if to then
      if to.peer and to.peer.port ~= h.s_id then
        note(record, "unknown_handle", ("%s is of a connection with %s"):format(hex_h(h.handle), id_text(to.peer.port)))
        return nil
      end
      return to
    end
    if is_whole(h) then
      note(record, "unknown_handle", hex_h(h.handle))
      return nil
    end
    return implied_endpoint(h.d_id, h.handle, record)
  end

  local function preference(h, from, record)
    if not from or not from.attributes then return end
    local wanted = from.attributes.preference == wire.preference
    if (band(h.cs_ctl, wire.cs_ctl_preference) ~= 0) ~= wanted then
      note(record, "wrong_preference", wanted and "PREF is not set" or "PREF is set")
    end
  end

  local function continue_request(message, h, record, view)
    local to = message.to
    record.message = message
    preference(h, to.peer, record)
    end_of_request(message, h, record)
    record.own_notes = record.notes and #record.notes or 0
    request_in_view(message, h, view, record)
    if to.open > 0 then record.open = to.open end
  end

  local function message_request(h, record, view)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local to = receiver_of(h, record)
    if not to then
      list[key] = {number = record.number, time = record.time, iu = h.iu, unknown = true}
      return
    end
    local message = exchange and exchange.message
    if not message or message.id ~= h.msg_id or message.to ~= to or message.opcode ~= h.opcode then
      message = new_message(h, to, record)
      list[key] = {number = record.number, time = record.time, iu = h.iu, message = message, words = words.fields(h)}
      allowed(message, h, record)
    else
      compare(message, h, record)
    end
    continue_request(message, h, record, view)
  end

  -- ---- answers to messages
  local answers = {FCVI_SEND_RQST = "FCVI_SEND_RESP", FCVI_WRITE_RQST = "FCVI_WRITE_RESP",
    FCVI_READ_RQST = "FCVI_READ_RESP"}

  local function response_in_view(message, h, view, record)
    message.answer_flows = message.answer_flows or {}
    local flow = message.answer_flows[view]
    if not flow then
      flow = {id = message.id, total = message.total}
      message.answer_flows[view] = flow
    end
    follow(flow, h, record)
    record.flow = flow
    if not words.has(h, "RESP_ERR") then measure(flow, h, record, message.total, h.last_sequence and h.ends_sequence) end
  end

  local function is_complete(message)
    for _, flow in pairs(message.flows) do
      if flow.complete or flow.headless then return true end
    end
    return false
  end

  local function judge_answer(message, h, record)
    local connection = message.to.connection
    if h.msg_id ~= message.id then
      note(record, "wrong_answer", ("FCVI_MSG_ID %.0f, the request's is %.0f"):format(h.msg_id, message.id))
    elseif not reads[message.opcode] and connection.level and connection.level ~= reception then
      note(record, "unexpected_response", wire.levels[connection.level])
    elseif message.answered and not reads[message.opcode] then
      note(record, "repeated_answer", ("in frame %d"):format(message.answered))
    elseif not words.has(h, "RESP_ERR") and not is_complete(message) then
      note(record, "early_response", ("message %.0f is not complete"):format(message.id))
    end
    if reads[message.opcode] then
      if h.rmt_va ~= message.rmt_va or h.rmt_va_high ~= message.rmt_va_high then
        note(record, "wrong_answer", "FCVI_RMT_VA")
      elseif h.rmt_va_handle ~= message.rmt_va_handle then
        note(record, "wrong_answer", "FCVI_RMT_VA_HANDLE")
      elseif h.last_word ~= message.total then
        note(record, "wrong_answer", ("FCVI_TOT_LEN %.0f, asked for %.0f"):format(h.last_word, message.total))
      end
      if words.has(h, "RESP_ERR") and h.payload ~= 0 then
        note(record, "wrong_payload_length", ("%d bytes in an error"):format(h.payload))
      end
    end
  end

  local function answer(message, h, record)
    local to = message.to
    if message.answered then return end
    message.answered, message.answer_time = record.number, record.time
    message.failed = words.has(h, "RESP_ERR")
    if to.connection.level == reception and to.open > 0 then to.open = to.open - 1 end
    track.answered(message, record)
  end

  local function message_response(h, record, view)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local message = exchange and exchange.message
    if not message or answers[message.iu.name] ~= h.iu.name then
      if message or is_whole(h) then
        note(record, "no_request", message and message.iu.name .. " is answered by " .. answers[message.iu.name] or nil)
      elseif not endpoint(h.d_id, h.handle) and not (exchange and exchange.unknown) then
        record.connection = implied_endpoint(h.d_id, h.handle, record).connection
      end
      return
    end
    local to = message.to  -- of the request, which is who answers
    record.message, record.answers = message, message
    record.request, record.request_time = exchange.number, exchange.time
    if to.peer then
      if to.peer.handle ~= h.handle then
        note(record, "wrong_handle", ("%s, the originator's is %s"):format(hex_h(h.handle), hex_h(to.peer.handle)))
      end
    else
      learn_peer(to, h.d_id, h.handle, record)
    end
    if not reads[message.opcode] then set_level(to.connection, reception) end
    judge_answer(message, h, record)
    answer(message, h, record)
    record.own_notes = record.notes and #record.notes or 0
    if h.iu.payload ~= "message_data" then return end
    if not message.answer_header and not record.notes then
      message.answer_iu, message.answer_flags = h.iu, h.flags
      message.answer_header = h.raw:sub(header_from, header_to)
    end
    response_in_view(message, h, view, record)
  end

  -- ---- set-up
  -- The payload of an IU of several frames, put together by relative offset. nil: not whole yet.
  local function control_payload(exchange, h)
    if h.parameter == 0 and h.ends_sequence then return h.tvb:raw(h.payload_at, h.payload_captured), h.payload end
    exchange.parts = exchange.parts or {}
    local parts = exchange.parts[h.opcode]
    if not parts then
      parts = {bytes = 0}
      exchange.parts[h.opcode] = parts
    end
    if not parts[h.parameter] then parts.bytes = parts.bytes + h.payload end
    parts[h.parameter] = h.tvb:raw(h.payload_at, h.payload_captured)
    if h.ends_sequence then parts.size = h.parameter + h.payload end
    if not parts.size or parts.bytes < parts.size then return nil end
    local list, at = {}, 0
    while at < parts.size and parts[at] and #parts[at] > 0 do
      list[#list + 1] = parts[at]
      at = at + #parts[at]
    end
    return table.concat(list), parts.size
  end

  -- Whether the payload is there and whole; its values are then in record.payload.
  local function read_payload(exchange, h, record)
    local bytes, size = control_payload(exchange, h)
    if not bytes then return false end
    if not checks.payload_length(h, size, record) or #bytes < wire.connect_bytes then return false end
    record.payload = checks.connect_payload(bytes)
    if size ~= h.payload then record.whole = bytes end
    checks.connect(bytes, record.payload, record)
    return true
  end

  local function later_of(earlier, retry, id, record)
    if retry and not earlier then
      note(record, "wrong_retry", "RETRY is set, but this is the first try")
    elseif not retry and earlier and not earlier.ended then
      note(record, "wrong_retry", ("not set, but frame %d has the first try"):format(earlier.number))
    elseif earlier and earlier.id == id then
      note(record, "wrong_connection_id", ("%s as in frame %d"):format(hex_h(id), earlier.number))
    end
    if retry and earlier then record.retry_of = earlier.number end
  end

  local function connect_request(h, record)
    local list, key = exchange_key(h)
    local exchange = list[key]
    if not exchange or not exchange.setup or exchange.setup.payload then
      exchange = {number = record.number, time = record.time, iu = h.iu,
        setup = {id = h.last_word, retry = words.has(h, "RETRY"), from = h.s_id, to = h.d_id, number = record.number}}
      list[key] = exchange
    end
    local setup = exchange.setup
    record.exchange, record.setup = exchange, setup
    if h.handle ~= wire.unassigned then
      note(record, "wrong_handle", ("%s, not yet assigned is FFFFFFFFh"):format(hex_h(h.handle)))
    end
    if h.parameter == 0 and not wire.modes[band(h.flags, 7)] then
      note(record, "wrong_mode", tostring(band(h.flags, 7)))
    end
    if not read_payload(exchange, h, record) then return end
    setup.payload, setup.handle = record.payload, record.payload.handle
    exchange.words = words.fields(h, record.payload)
    if setup.id == wire.unassigned then note(record, "wrong_connection_id", "FFFFFFFFh is unassigned") end
    if setup.handle == wire.unassigned then note(record, "wrong_handle", "FCVI_RQST_HANDLE is not assigned") end
    local owner = h.s_id * 4294967296 + setup.handle
    local earlier = state.setups[owner]
    if earlier or is_whole(h) then later_of(earlier, setup.retry, setup.id, record) end
    state.setups[owner] = setup
  end

  local function same_address(one, other)
    return one.host == other.host and one.discriminator == other.discriminator
  end

  -- RETRY and FCVI_CONNECTION_ID of an answer are those of the request (FC-VI 5.9.4.5, 5.9.10).
  local function echoes(setup, h, record)
    local retry = words.has(h, "RETRY")
    if retry ~= setup.retry then
      note(record, "wrong_retry", retry and "set, but not in the request" or "not set as in the request")
    end
    if h.last_word ~= setup.id then
      note(record, "wrong_connection_id", ("%s, the request's is %s"):format(hex_h(h.last_word), hex_h(setup.id)))
    end
  end

  local function connect(setup, h, record)
    local payload, own = record.payload, setup.payload
    local connection
    local one, other = endpoint(setup.from, setup.handle), endpoint(h.s_id, payload.handle)
    if one and other and one.peer == other then  -- a retry after the last answer was lost
      connection = one.connection
    else
      connection = new_connection(record)
      one = add_endpoint(setup.from, setup.handle, connection)
      other = add_endpoint(h.s_id, payload.handle, connection)
      join(one, other)
    end
    one.attributes, other.attributes = own, payload
    one.address, other.address = own.from, own.to
    connection.originator, connection.responder = one, other
    connection.level, connection.setup = own.level, setup.number
    connection.window = math.min(own.depth, payload.depth) + 1
    setup.connection, record.connection = connection, connection
  end

  local function connect_resp1(h, record)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local setup = exchange and exchange.setup
    record.exchange = exchange
    if h.handle ~= wire.unassigned then
      note(record, "wrong_handle", ("%s, not yet assigned is FFFFFFFFh"):format(hex_h(h.handle)))
    end
    if not setup then
      if is_whole(h) then note(record, "no_request") end
      exchange = exchange or {number = record.number, time = record.time, iu = h.iu}
      list[key] = exchange
      read_payload(exchange, h, record)
      return
    end
    record.setup, record.request, record.request_time = setup, exchange.number, exchange.time
    if setup.resp1 and h.parameter == 0 then
      note(record, "repeated_answer", ("in frame %d"):format(setup.resp1))
      return
    end
    if h.parameter == 0 then
      setup.resp1 = record.number
      echoes(setup, h, record)
    end
    if not read_payload(exchange, h, record) or not setup.payload then return end
    exchange.response = exchange.response or record.number
    local payload, accepted = record.payload, not words.has(h, "CONN_STS")
    if not same_address(payload.from, setup.payload.to) or not same_address(payload.to, setup.payload.from) then
      note(record, "wrong_answer", "the addresses are not those of the request")
    end
    setup.accepted, setup.resp_handle = accepted, payload.handle
    if not accepted then
      setup.ended = true
      track.refused(record, h.fcvi_parameter)
      if payload.handle ~= wire.unassigned then
        note(record, "wrong_handle", "FCVI_RESP_HANDLE of a set-up that is not accepted")
      end
      return
    end
    if payload.handle == wire.unassigned then
      note(record, "wrong_handle", "FCVI_RESP_HANDLE is not assigned")
      return
    end
    if payload.level ~= setup.payload.level then
      note(record, "wrong_answer", ("%s, asked for %s"):format(wire.levels[payload.level] or "unknown",
        wire.levels[setup.payload.level] or "unknown"))
    end
    connect(setup, h, record)
  end

  -- RESP2 and RESP3; `before` is the answer that must have come, `handle` the one that they carry.
  local function later_answer(h, record, before, which, handle_of)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local setup = exchange and exchange.setup
    record.exchange = exchange
    if not setup or not setup[before] then
      if is_whole(h) or setup then
        note(record, "no_request", setup and "there was no FCVI_CONNECT_" .. before:upper() or nil)
      end
      return nil
    end
    record.setup, record.connection = setup, setup.connection
    record.request, record.request_time = exchange.number, exchange.time
    if setup[which] then
      note(record, "repeated_answer", ("in frame %d"):format(setup[which]))
      return nil
    end
    setup[which] = record.number
    echoes(setup, h, record)
    local wanted = handle_of(setup)
    if wanted and h.handle ~= wanted then
      note(record, "wrong_handle", ("%s, the receiver's is %s"):format(hex_h(h.handle), hex_h(wanted)))
    end
    return setup
  end

  local function connect_resp2(h, record)
    local setup = later_answer(h, record, "resp1", "resp2", function(setup) return setup.resp_handle end)
    if setup and words.has(h, "CONN_STS") then
      setup.refused_by_originator, setup.ended = true, true
      track.refused(record, h.fcvi_parameter)
    end
  end

  -- What came to nothing may be acknowledged with either handle (FC-VI 5.3.3).
  local function connect_resp3(h, record)
    local setup = later_answer(h, record, "resp2", "resp3", function(setup)
      local made = setup.accepted and not setup.refused_by_originator
      return (made or h.handle ~= wire.unassigned) and setup.handle or nil
    end)
    if not setup then return end
    setup.ended = true
    if words.has(h, "CONN_STS") then track.refused(record, h.fcvi_parameter) end
    if setup.connection and not setup.connection.established then
      setup.connection.established = record.number
      track.established(setup, record)
    end
  end

  -- ---- Disconnect
  -- At Reliable Reception the last message that was completed has been answered.
  local function completed(h, record, one)
    local other = one and one.peer
    if not other or h.msg_id == 0 or one.connection.implied or one.connection.level ~= reception then return end
    local a, b = one.messages[h.msg_id], other.messages[h.msg_id]
    if not (a and a.answered) and not (b and b.answered) then
      note(record, "early_completion", ("message %.0f has no response"):format(h.msg_id))
    end
  end

  local function disconnect_request(h, record)
    local list, key = exchange_key(h)
    local exchange = {number = record.number, time = record.time, iu = h.iu, words = words.fields(h),
      disconnect = {flags = h.flags, id = h.last_word, aborts = words.has(h, "CONN_SETUP_ABORT")}}
    list[key] = exchange
    record.exchange = exchange
    if words.has(h, "CONN_STS") then track.disconnected(record, h.fcvi_parameter) end
    if exchange.disconnect.aborts then
      for _, setup in pairs(state.setups) do
        if setup.id == h.last_word and (setup.from == h.s_id or setup.to == h.s_id) then setup.ended = true end
      end
    elseif h.last_word ~= 0 and h.last_word ~= wire.unassigned then
      note(record, "wrong_connection_id", ("%s, of an established connection it is 0"):format(hex_h(h.last_word)))
    end
    if h.handle == wire.unassigned then
      if not exchange.disconnect.aborts then note(record, "wrong_handle", "FFFFFFFFh is not assigned") end
      return
    end
    local to = endpoint(h.d_id, h.handle)
    if not to then
      if is_whole(h) and not exchange.disconnect.aborts then note(record, "unknown_handle", hex_h(h.handle)) end
      return
    end
    exchange.disconnect.to, record.connection = to, to.connection
    completed(h, record, to)
    if to.peer and not exchange.disconnect.aborts then to.peer.closed = record.number end
  end

  local function disconnect_response(h, record)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local request = exchange and exchange.disconnect
    record.exchange = exchange
    if not request then
      if is_whole(h) then note(record, "no_request") end
      return
    end
    record.request, record.request_time = exchange.number, exchange.time
    if request.answered then
      note(record, "repeated_answer", ("in frame %d"):format(request.answered))
      return
    end
    request.answered, exchange.response = record.number, record.number
    if words.has(h, "CONN_STS") then track.ended(record, h.fcvi_parameter) end
    local mask = words.flag[h.opcode].CONN_SETUP_ABORT + words.flag[h.opcode].VI_APP_DISCON
    if band(h.flags, mask) ~= band(request.flags, mask) then
      note(record, "wrong_answer", "CONN_SETUP_ABORT and VI_APP_DISCON are not those of the request")
    end
    if h.last_word ~= request.id then
      note(record, "wrong_connection_id", ("%s, the request's is %s"):format(hex_h(h.last_word), hex_h(request.id)))
    end
    local to = request.to
    if not to then return end
    record.connection = to.connection
    if to.peer then
      if h.handle ~= to.peer.handle and h.handle ~= wire.unassigned then
        note(record, "wrong_handle", ("%s, the originator's is %s"):format(hex_h(h.handle), hex_h(to.peer.handle)))
      end
    elseif h.handle ~= wire.unassigned then
      learn_peer(to, h.d_id, h.handle, record)
    end
    completed(h, record, to)
    to.closed = to.closed or record.number
  end

  local handlers = {}
  for opcode, iu in pairs(wire.ius) do
    if iu.category == "message_request" then handlers[opcode] = message_request end
    if iu.category == "message_response" then handlers[opcode] = message_response end
    handlers[opcode] = ({FCVI_CONNECT_RQST = connect_request, FCVI_CONNECT_RESP1 = connect_resp1,
      FCVI_CONNECT_RESP2 = connect_resp2, FCVI_CONNECT_RESP3 = connect_resp3,
      FCVI_DISCONNECT_RQST = disconnect_request, FCVI_DISCONNECT_RESP = disconnect_response})[iu.name] or handlers[opcode]
  end

  -- ---- frames that were seen before
  -- Copies of a frame are found by its headers. Of the most recent 32,768 to 65,536 frames.
  local most_seen = 32768
  local function remember(raw, record)
    state.seen[raw] = record
    state.seen_count = state.seen_count + 1
    if state.seen_count == most_seen then
      state.seen, state.seen_before, state.seen_count = {}, state.seen, 0
    end
  end

  -- The same frame at another place: what is wrong with it is wrong here too, but for gaps, which each view has for
  -- itself.
  local copied = {"connection", "exchange", "setup", "request", "request_time", "payload", "whole", "retry_of", "answers"}
  local function copy(first, h, record, view)
    local message = first.message
    record.message, record.open, record.same = message, first.open, first.number
    if not message or first.answers then
      for i = 1, #copied do record[copied[i]] = first[copied[i]] end
    end
    if first.notes then
      for i = 1, first.own_notes or #first.notes do
        record.notes = record.notes or {}
        record.notes[i] = first.notes[i]
      end
    end
    if first.views:find(view, 1, true) then
      -- At one more place on its way, or a frame that the fabric made two of: a capture does not tell.
      record.flow = message and first.flow
      return
    end
    first.views = first.views .. view
    if not message or not first.flow then return end
    if first.answers then
      response_in_view(message, h, view, record)
    else
      request_in_view(message, h, view, record)
    end
  end

  -- ---- the entrance
  -- Nearly all frames of a long message have the Device_Header of its first one. What was found in that holds for them.
  local function continued(h)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local message = exchange and exchange.message
    if not message then return nil end
    local header, iu, flags = message.header, message.iu, message.flags
    if h.responder then header, iu, flags = message.answer_header, message.answer_iu, message.answer_flags end
    if not header or h.raw:sub(header_from, header_to) ~= header or h.r_ctl ~= iu.r_ctl or iu.payload ~= "message_data" or
        h.captured < iu.header then return nil end
    h.iu, h.opcode, h.header, h.flags = iu, iu.opcode, iu.header, flags
    h.last_word, h.msg_id = message.total, message.id
    h.payload_at, h.payload, h.payload_captured = h.at + iu.header, h.length - iu.header, h.captured - iu.header
    return message
  end

  local function continue(message, h, record, view)
    checks.f_ctl(h, record)
    if not h.responder then return continue_request(message, h, record, view) end
    record.message, record.answers = message, message
    record.request, record.request_time = message.number, message.time
    record.own_notes = record.notes and #record.notes or 0
    response_in_view(message, h, view, record)
  end

  -- A FC-VI frame, when it is read for the first time. `time`: seconds since the first frame.
  function track.read(h, number, time, view)
    -- Eight entries: with a ninth each would take twice the memory, and there is one for each frame of the capture.
    local record = {number = number, time = time, views = view, message = nil, flow = nil, own_notes = nil, open = nil,
      same = nil}
    state.records[number] = record
    local message = continued(h)
    if not message then frame.parse_device_header(h) end
    local raw = h.raw
    local first = state.seen[raw] or state.seen_before[raw]
    if first then
      copy(first, h, record, view)
    else
      remember(raw, record)
      if message then
        continue(message, h, record, view)
      else
        if checks.header(h, record) then handlers[h.opcode](h, record, view) end
        track.counted(h, record)
      end
    end
    return record
  end

  -- A frame that no port takes: it is shown, and nothing follows from it.
  function track.ignore(number, time)
    local record = {number = number, time = time, views = ""}
    state.records[number] = record
    return record
  end

  -- A frame that the capture says was lost or discarded on its way. Requests of a set-up or a Disconnect are tries, which a
  -- later one refers to; ABTS tells what a request was. Nothing else follows from it. `is_bad`: nor that.
  function track.read_lost(h, number, time, is_bad)
    local record = track.ignore(number, time)
    frame.parse_device_header(h)
    if is_bad then return record end
    local first = state.seen[h.raw] or state.seen_before[h.raw]
    if first then
      record.same = first.number  -- it was shown before it was lost
    elseif checks.header(h, {}) then
      local name = h.iu.name
      if name == "FCVI_CONNECT_RQST" or name == "FCVI_DISCONNECT_RQST" then
        handlers[h.opcode](h, record, "u")
      elseif h.iu.category == "message_request" and h.seq_cnt == 0 and band(h.f_ctl, wire.first_sequence) ~= 0 then
        local list, key = exchange_key(h)
        list[key] = {number = number, time = time, iu = h.iu, unknown = true}
      end
      record.notes = nil  -- nobody sees them
    end
    return record
  end

  -- The capture misses frames here: what follows is judged as if it had begun now. Connections keep their numbers; others
  -- may have their handles by now.
  function track.frames_missing()
    state.exchanges, state.setups, state.logins = {}, {}, {}
    state.seen, state.seen_before, state.seen_count = {}, {}, 0
    for _, connection in ipairs(state.connections) do
      connection.implied, connection.level, connection.window = true, nil, nil
    end
    for _, handles in pairs(state.ports) do
      for _, one in pairs(handles) do
        one.peer, one.attributes, one.closed = nil, nil, nil
        one.messages, one.views, one.open = {}, {}, 0
      end
    end
  end

  function track.record(number) return state.records[number] end
  function track.connections() return state.connections end

  -- ABTS and what answers it: of which message or set-up. Other frames tell of logins and of the fabric's order.
  local function link_service(h, number)
    local list, key = exchange_key(h)
    local exchange = list[key]
    if not exchange then return nil end
    local record = {number = number, aborts = exchange.number, exchange = exchange, link = wire.link_names[h.r_ctl] or hex_h(h.r_ctl)}
    state.records[number] = record
    if record.link == "ABTS" and exchange.setup then exchange.setup.failed = true end
    return record
  end

  local login_at = {}
  local function collect(prefix, items)
    for _, item in ipairs(items) do
      login_at[prefix .. item.name] = item
      if item.fields then collect(prefix .. item.name .. ".", item.fields) end
    end
  end
  collect("", wire.messages.login.fields)
  local options_at = login_at["class_3.service_options"].offset
  local r_a_tov_at = login_at.total_concurrent_sequences.offset

  -- A login or logout ends what was between two ports (FC-FS).
  local function forget_connections(one, other)
    for _, port in ipairs({one, other}) do
      for handle, found in pairs(state.ports[port] or {}) do
        local peer = found.peer and found.peer.port
        if peer == one or peer == other then state.ports[port][handle] = nil end
      end
    end
  end

  local function extended_link_service(h)
    if h.captured < 1 then return end
    local command = h.tvb(h.at, 1):uint()
    local pair = pair_of(h.s_id, h.d_id)
    if h.r_ctl == 0x22 and command == 0x03 then  -- PLOGI
      forget_connections(h.s_id, h.d_id)
      state.logins[pair] = true
    elseif h.r_ctl == 0x22 and command == 0x05 then  -- LOGO
      forget_connections(h.s_id, h.d_id)
      state.logins[pair] = nil
    elseif h.r_ctl == 0x23 and command == 0x02 and h.s_id == 0xFFFFFE and h.captured >= wire.messages.login.size then
      -- LS_ACC of FLOGI: whether the fabric keeps the order of frames, and for how long it may hold one.
      state.in_order = band(h.tvb(h.at + options_at, 2):uint(), wire.sequential_delivery) ~= 0
      state.r_a_tov = h.tvb(h.at + r_a_tov_at, 4):uint() / 1000
    end
  end

  function track.read_other(h, number)
    if h.r_ctl == 0x22 or h.r_ctl == 0x23 then return extended_link_service(h) end
    return track.read_link_service(h, number)
  end

  -- Of a lost frame it is known all the same.
  function track.read_link_service(h, number)
    if band(h.r_ctl, 0xF0) == 0x80 then return link_service(h, number) end
    return nil
  end

  function track.reset()
    state = {records = {}, exchanges = {}, ports = {}, logins = {}, connections = {}, setups = {}, seen = {},
      seen_before = {}, seen_count = 0, in_order = nil, r_a_tov = default_r_a_tov}
  end
  track.reset()
end

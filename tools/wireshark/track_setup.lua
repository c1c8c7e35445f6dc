-- ---- tracking: set-up and Disconnect -----------------------------------------------------------------------------------------
local setups = {handlers = {}}

do
  local band = bit32.band
  local exchange_key, endpoint, is_whole, new_connection, add_endpoint, join, learn_peer = known.exchange_key, known.endpoint,
      known.is_whole, known.new_connection, known.add_endpoint, known.join, known.learn_peer
  local reception = messages.reception

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

  -- SEQ_CNT goes on over the IUs of an Exchange that one side sends (FC-VI 5.8.6), the relative offset over the frames of an IU. What
  -- the originator sends first begins at 0. Behind a gap in a payload all is judged as if the capture began there.
  local function goes_on(exchange, h, record, begins)
    exchange.sides = exchange.sides or {}
    local before = exchange.sides[h.responder]
    local wanted = before and band(before.count + 1, 0xFFFF) or begins and 0
    local offset = before and before.in_sequence and before.offset or 0
    local has_gap = state.in_order ~= false and (wanted and h.seq_cnt ~= wanted or h.payload > 0 and h.parameter ~= offset)
    if not has_gap then
      if state.in_order ~= false and before and before.in_sequence and h.seq_id ~= before.seq_id then
        note(record, "wrong_seq_id", ("%02Xh, without End_Sequence of %02Xh"):format(h.seq_id, before.seq_id))
      end
    elseif wanted and h.seq_cnt ~= wanted then
      note(record, "seq_cnt_gap", ("expected %d, got %d"):format(wanted, h.seq_cnt))
    else
      note(record, "offset_gap", ("expected %.0f, got %.0f"):format(offset, h.parameter))
    end
    exchange.sides[h.responder] = {count = h.seq_cnt, offset = h.parameter + h.payload, seq_id = h.seq_id,
      in_sequence = not h.ends_sequence}
    if has_gap and not exchange.disconnect then known.lose_track(h) end
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
    local anew = h.seq_cnt == 0 and h.parameter == 0 and state.in_order ~= false  -- an earlier one with that OX_ID was not whole
    if not exchange or not exchange.setup or exchange.setup.payload or anew then
      exchange = {number = record.number, time = record.time, iu = h.iu,
        setup = {id = h.last_word, retry = words.has(h, "RETRY"), from = h.s_id, to = h.d_id, number = record.number}}
      list[key] = exchange
    end
    local setup = exchange.setup
    record.exchange, record.setup = exchange, setup
    goes_on(exchange, h, record, is_whole(h))
    if h.handle ~= wire.unassigned then
      note(record, "wrong_handle", ("%s, not yet assigned is FFFFFFFFh"):format(hex_h(h.handle)))
    end
    if h.parameter == 0 and not wire.modes[band(h.flags, 7)] then
      note(record, "wrong_mode", tostring(band(h.flags, 7)))
    end
    if not read_payload(exchange, h, record) then
      if h.is_cut then known.lose_track(h) end
      return
    end
    setup.payload, setup.handle = record.payload, record.payload.handle
    exchange.words = words.fields(h, record.payload)
    if setup.id == wire.unassigned then note(record, "wrong_connection_id", "FFFFFFFFh is unassigned") end
    if setup.handle == wire.unassigned then note(record, "wrong_handle", "FCVI_RQST_HANDLE is not assigned") end
    local setups_of = known.setups_of(h.s_id)
    local earlier = setups_of[setup.handle]
    -- A login ends what was before it; the retry may go under a new one (ruling 177).
    if earlier and earlier.number < known.login_of(h.s_id, h.d_id) and not setup.retry then earlier = nil end
    if earlier or is_whole(h) then later_of(earlier, setup.retry, setup.id, record) end
    setups_of[setup.handle] = setup
  end

  -- A length that no address has is told of by itself.
  local function is_length(length) return length >= wire.min_discriminator and length <= wire.max_discriminator end
  local function same_address(one, other)
    local same_length = one.length == other.length or not is_length(one.length) or not is_length(other.length)
    return same_length and one.host == other.host and one.discriminator == other.discriminator
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
    goes_on(exchange, h, record)
    if h.parameter == 0 then
      setup.resp1 = record.number
      echoes(setup, h, record)
    end
    local is_read = read_payload(exchange, h, record)
    if not is_read and h.is_cut then known.lose_track(h) end
    if not is_read or not setup.payload then return end
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
    goes_on(exchange, h, record)
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
    local a, b = known.message_to(one, h.msg_id), known.message_to(other, h.msg_id)
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
    goes_on(exchange, h, record, true)
    if words.has(h, "CONN_STS") then track.disconnected(record, h.fcvi_parameter) end
    if exchange.disconnect.aborts then
      for _, setups_of in pairs(state.setups) do
        for _, setup in pairs(setups_of) do
          if setup.id == h.last_word and (setup.from == h.s_id or setup.to == h.s_id) then setup.ended = true end
        end
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

  local by_name = {FCVI_CONNECT_RQST = connect_request, FCVI_CONNECT_RESP1 = connect_resp1,
    FCVI_CONNECT_RESP2 = connect_resp2, FCVI_CONNECT_RESP3 = connect_resp3,
    FCVI_DISCONNECT_RQST = disconnect_request, FCVI_DISCONNECT_RESP = disconnect_response}
  for opcode, iu in pairs(wire.ius) do setups.handlers[opcode] = by_name[iu.name] end
end

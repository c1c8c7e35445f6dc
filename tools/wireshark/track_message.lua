-- ---- tracking: messages and their answers ---------------------------------------------------------------------------------
local messages = {handlers = {}}

do
  local band = bit32.band
  local exchange_key, endpoint, is_whole, implied_endpoint, learn_peer, set_level = known.exchange_key, known.endpoint,
      known.is_whole, known.implied_endpoint, known.learn_peer, known.set_level

  local reads = {}  -- whether an IU asks for an RDMA Read
  for opcode, iu in pairs(wire.ius) do reads[opcode] = iu.name == "FCVI_READ_RQST" end

  local level_names = {}
  for code, name in pairs(wire.levels) do level_names[name] = code end
  local unreliable, reliable, reception = level_names.unreliable_delivery, level_names.reliable_delivery,
      level_names.reliable_reception
  assert(unreliable and reliable and reception)
  messages.reception = reception

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
      flags = h.flags, parameter = h.fcvi_parameter, flows = {s = nil, r = nil}, raw = h.raw,
      begun = h.seq_cnt == 0 and h.parameter == 0, answered = nil, answer_time = nil, failed = nil, words = nil}
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

  -- `from`: who sends the frame.
  function messages.preference(h, from, record)
    if not from or not from.attributes then return end
    local wanted = from.attributes.preference == wire.preference
    if (band(h.cs_ctl, wire.cs_ctl_preference) ~= 0) ~= wanted then
      note(record, "wrong_preference", wanted and "PREF is not set" or "PREF is set")
    end
  end

  function messages.continue_request(message, h, record, view)
    local to = message.to
    record.message = message
    messages.preference(h, to.peer, record)
    end_of_request(message, h, record)
    record.own_notes = record.notes and #record.notes or 0
    flows.request(message, h, view, record)
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
      list[key] = {number = record.number, time = record.time, iu = h.iu, message = message}
      allowed(message, h, record)
    else
      compare(message, h, record)
    end
    messages.continue_request(message, h, record, view)
  end

  -- ---- answers to messages
  local answers = {FCVI_SEND_RQST = "FCVI_SEND_RESP", FCVI_WRITE_RQST = "FCVI_WRITE_RESP",
    FCVI_READ_RQST = "FCVI_READ_RESP"}
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
    messages.preference(h, to, record)
    judge_answer(message, h, record)
    answer(message, h, record)
    record.own_notes = record.notes and #record.notes or 0
    if h.iu.payload ~= "message_data" then return end
    if not message.answer_raw and not record.notes then
      message.answer_iu, message.answer_flags = h.iu, h.flags
      message.answer_raw = h.raw
    end
    flows.response(message, h, view, record)
  end

  for opcode, iu in pairs(wire.ius) do
    if iu.category == "message_request" then messages.handlers[opcode] = message_request end
    if iu.category == "message_response" then messages.handlers[opcode] = message_response end
  end
end

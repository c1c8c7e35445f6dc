-- ---- tracking: the entrance ---------------------------------------------------------------------------------------------------
do
  local band = bit32.band
  local exchange_key = known.exchange_key

  local handlers = {}
  for opcode in pairs(wire.ius) do handlers[opcode] = messages.handlers[opcode] or setups.handlers[opcode] end

  -- ---- frames that were seen before
  -- Copies of a frame are found by its headers. Of the most recent 32,768 to 65,536 frames. By parts of them: of a string as long
  -- as both headers Lua hashes every other byte, so that thousands of short messages would stand in one chain.
  local most_seen, sub = 32768, string.sub
  local addresses_to, ids_to = 12, 36  -- the last bytes of type and F_CTL, and of FCVI_MSG_ID
  local function remember(raw, number, view)
    state.views[number] = view
    local seen, raws = state.seen, state.raws
    local addresses, ids = sub(raw, 1, addresses_to), sub(raw, addresses_to + 1, ids_to)
    local list = seen[addresses]
    if not list then
      list = {}
      seen[addresses] = list
    end
    local before = list[ids]
    list[before and raws[before] ~= raw and raw or ids] = number  -- nearly never two that differ behind FCVI_MSG_ID
    raws[number] = raw
    state.seen_count = state.seen_count + 1
    if state.seen_count == most_seen then
      state.seen, state.seen_before, state.seen_count = {}, seen, 0
      state.raws, state.raws_before = {}, raws
    end
  end
  local function seen_in(raw)
    local addresses, ids = sub(raw, 1, addresses_to), sub(raw, addresses_to + 1, ids_to)
    local list = state.seen[addresses]
    local number = list and list[ids]
    if number then
      if state.raws[number] == raw then return number end
      if list[raw] then return list[raw] end
    end
    list = state.seen_before[addresses]
    number = list and list[ids]
    if not number then return nil end
    return state.raws_before[number] == raw and number or list[raw]
  end

  -- What has the headers of a frame before the login is its copy only where that frame was not seen yet: the ids are used anew.
  local function first_of(raw, view)
    local first = shorts.seen(raw) or seen_in(raw)
    if not first then return nil end
    local d1, d2, d3, _, s1, s2, s3 = raw:byte(2, 8)
    if first >= known.login_of((d1 * 256 + d2) * 256 + d3, (s1 * 256 + s2) * 256 + s3) then return first end
    if view == "u" or state.views[first]:find(view, 1, true) then return nil end
    return first
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
    local views = state.views[first.number]
    if views:find(view, 1, true) then
      -- At one more place on its way, or a frame that the fabric made two of: a capture does not tell.
      record.flow = message and first.flow
      return
    end
    state.views[first.number] = views .. view
    if not message or not first.flow then return end
    if first.answers then
      flows.response(message, h, view, record)
    else
      flows.request(message, h, view, record)
    end
  end

  -- ---- the entrance
  -- Nearly all frames of a long message have the Device_Header of its first one. What was found in that holds for them.
  local function continued(h)
    local list, key = exchange_key(h)
    local exchange = list[key]
    local message = exchange and exchange.message
    if not message then return nil end
    local raw, iu, flags = message.raw, message.iu, message.flags
    if h.responder then raw, iu, flags = message.answer_raw, message.answer_iu, message.answer_flags end
    if not raw or h.r_ctl ~= iu.r_ctl or iu.payload ~= "message_data" or h.captured < iu.header or
        not frame.same_header(h.raw, raw) then return nil end
    h.iu, h.opcode, h.header, h.flags = iu, iu.opcode, iu.header, flags
    h.last_word, h.msg_id, h.fcvi_parameter = message.total, message.id, message.parameter
    h.rmt_va_high, h.rmt_va = message.rmt_va_high, message.rmt_va
    h.payload_at, h.payload, h.payload_captured = h.at + iu.header, h.length - iu.header, h.captured - iu.header
    return message
  end

  local function continue(message, h, record, view)
    checks.f_ctl(h, record)
    if not h.responder then return messages.continue_request(message, h, record, view) end
    record.message, record.answers = message, message
    record.request, record.request_time = message.number, message.time
    messages.preference(h, message.to, record)
    record.own_notes = record.notes and #record.notes or 0
    flows.response(message, h, view, record)
  end

  -- Its Device_Header was cut off.
  local function unreadable(h)
    known.lose_track(h)
    if not h.responder and h.seq_cnt == 0 then
      local list, key = exchange_key(h)
      list[key] = nil
    end
  end

  -- A FC-VI frame, when it is read for the first time. `time`: seconds since the first frame.
  function track.read(h, number, time, view)
    local record = {number = number, time = time, message = nil, flow = nil, own_notes = nil, open = nil, same = nil}
    state.records[number] = record
    local message = continued(h)
    if not message then frame.parse_device_header(h) end
    local raw = h.raw
    local first = first_of(raw, view)
    if first then
      copy(track.record(first), h, record, view)
    else
      remember(raw, number, view)
      if message then
        continue(message, h, record, view)
      else
        if checks.header(h, record) then
          handlers[h.opcode](h, record, view)
        elseif h.is_cut and not h.header then
          unreadable(h)
        end
        track.counted(h, record)
      end
    end
    if record.message then
      flows.expect_next(record, h, view, exchange_key(h))
    else
      known.expect_nothing()  -- set-ups and Disconnects change what messages may do
      known.forget_shorts()
    end
    return record
  end

  -- Whether there is any of which a frame may be the next one; the one, by the headers of the frame.
  function track.expects() return state.has_shorts or state.expecting > 0 end
  function track.expected(raw, view)
    return state.expecting > 0 and flows.expected(raw, view) or state.has_shorts and shorts.lane(raw, view)
  end
  track.learn_short = shorts.learn
  -- A frame that is expected next in a message, when it is read for the first time: its relative offset, nil if it is none.
  function track.read_next(flow, raw, number, payload)
    local view, first = flow.view, first_of(raw, flow.view)
    local views = first and state.views[first]
    if state.records[number] or views and views:find(view, 1, true) then return nil end
    local parameter = flows.take_next(flow, raw, number, payload)
    if not parameter then return nil end
    state.records[number] = flow
    local open = flow.message.to.open
    if open > 0 and not flow.is_answer then state.open[number] = open end
    if first then
      state.same[number], state.views[first] = first, views .. view
    else
      remember(raw, number, view)
    end
    return parameter
  end

  -- A frame that no port takes: it is shown, and nothing follows from it.
  function track.ignore(number, time)
    local record = {number = number, time = time}
    known.expect_nothing()
    known.forget_shorts()
    state.records[number] = record
    return record
  end

  -- A frame that the capture says was lost or discarded on its way. Requests of a set-up or a Disconnect are tries, which a
  -- later one refers to; ABTS tells what a request was. Nothing else follows from it. `is_bad`: nor that.
  function track.read_lost(h, number, time, is_bad)
    local record = track.ignore(number, time)
    frame.parse_device_header(h)
    if is_bad then return record end
    local first = first_of(h.raw, "u")
    if first then
      record.same = first  -- it was shown before it was lost
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
    known.forget_seen()
    known.expect_nothing()
    known.forget_shorts()
    for _, connection in ipairs(state.connections) do
      connection.implied, connection.level, connection.window = true, nil, nil
    end
    for _, handles in pairs(state.ports) do
      for _, one in pairs(handles) do
        one.peer, one.attributes, one.closed = nil, nil, nil
        one.messages, one.views, one.open, one.requests, one.responses = {}, {}, 0, {}, {}
      end
    end
  end

  -- What is known of a frame that was read. Of one in the middle of a message it is made when it is asked for, without time.
  function track.record(number)
    local found = state.records[number]
    if not found or found.number then return found end
    if found.is_short then return shorts.record(number) end
    local record = {number = number, message = found.message, flow = found, open = state.open[number], same = state.same[number],
      own_notes = 0}
    if found.is_answer then
      record.answers, record.request, record.request_time = found.message, found.message.number, found.message.time
    end
    return record
  end
  function track.connections() return state.connections end

  function track.reset() known.reset() end
  track.reset()
end

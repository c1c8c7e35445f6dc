-- ---- tracking: short messages ----------------------------------------------------------------------------------------
-- Where each frame is a message of its own, or the response to one, the tables of each would take most of the time. A
-- frame that differs from an earlier one, in which nothing was wrong, only in what each message has of its own, and is
-- the next one of its sender or answers such a message, has nothing wrong either. Of these only the headers are kept,
-- by frame number, and the frames of request and response, by message number. Records, messages and Exchanges are made
-- of them when something looks at them.
local shorts = {}

do
  local sub, byte = string.sub, string.byte
  local headers = frame.header_bytes + wire.messages.device_header.size
  local response_header = frame.header_bytes + 16
  -- What is equal in all frames of a lane, from and to which byte: the header up to F_CTL; from the handle to the flags' word.
  local prefix_to, handle_from, handle_to = 12, frame.header_bytes + 1, frame.header_bytes + 8
  local parameter_from, address_from, address_to, length_from = 37, 43, 52, 53

  local function number_at(raw, at)
    local a, b, c, d = byte(raw, at, at + 3)
    return ((a * 256 + b) * 256 + c) * 256 + d
  end
  local id_at = 33

  -- ---- the words of the Info column: to format a number takes longer than all else here
  local numerals, tails, hex = {}, {}, {}
  for i = 0, 999 do numerals[i], tails[i] = ("%d"):format(i), ("%03d"):format(i) end
  for i = 0, 255 do hex[i] = ("%02X"):format(i) end
  -- Of strings of up to 40 bytes Lua keeps one of each, in a table in which each call into Wireshark looks for names: thousands that
  -- are used once would make all calls slower. So there are bytes behind the words, which nobody sees: Wireshark's end at a 0.
  local unshared = ("\0"):rep(41)

  -- In one expression, for each has a string as its result.
  local function text_of(lane, raw, id)
    local rest = id % 1000
    local thousands = (id - rest) / 1000
    if thousands ~= lane.thousands then
      lane.thousands, lane.text = thousands, thousands == 0 and lane.name or lane.name .. ("%.0f"):format(thousands)
      lane.last = thousands == 0 and numerals or tails
    end
    if not lane.has_address then return lane.text .. lane.last[rest] .. lane.behind end
    local a, b, c, d, e, f = byte(raw, address_from, address_from + 5)
    return lane.text .. lane.last[rest] .. ", at " .. hex[a] .. hex[b] .. hex[c] .. hex[d] .. hex[e] .. hex[f] .. "h" .. lane.behind
  end

  -- ---- frames of a lane: in one function each, for a call takes as long as what most of these do
  -- A message of another length than the one before, or with a fixed part that is not compared with its length. No bytes that are new
  -- with each frame become a string: Lua would keep it as it keeps words.
  local function has_parameters(lane, raw, length)
    if length < lane.bytes or sub(raw, parameter_from, lane.fixed_to) ~= lane.fixed then return false end
    if length == lane.length and sub(raw, length_from, headers) == lane.total then return true end
    local total = number_at(raw, length_from)
    if length ~= lane.bytes + total or total == 0 or total > lane.most then return false end
    lane.length, lane.total = length, sub(raw, length_from, headers)
    lane.same = lane.fixed_to == address_to and lane.fixed .. lane.total
    return true
  end

  -- Takes the frame, if it is of the lane: then the words of the Info column, else nil. `length`: of the frame.
  local function request(lane, raw, number, time, length)
    local a, b, c, d = byte(raw, id_at, id_at + 3)
    local id = ((a * 256 + b) * 256 + c) * 256 + d
    local to, awaited, requests, records = lane.to, lane.awaited, lane.requests, lane.records
    if id ~= awaited.id or records[number] or requests[id] or not awaited.message.complete or to.messages[id] then return nil end
    local same = lane.same  -- all that is equal in messages without an address
    if not (same and length == lane.length and sub(raw, parameter_from, headers) == same) and not has_parameters(lane, raw, length) then
      return nil
    end
    if lane.is_answered then
      local open, window = to.open + 1, lane.window
      if window and open > window then return nil end
      to.open, lane.open[number] = open, open
    end
    awaited.id = id == 4294967295 and 0 or id + 1
    requests[id], lane.list[lane.key + lane.ox_id] = number, number
    records[number], lane.raws[number], lane.times[number] = lane, raw, time
    return text_of(lane, raw, id)
  end

  local function response(lane, raw, number, time, length)
    local a, b, c, d = byte(raw, id_at, id_at + 3)
    local id = ((a * 256 + b) * 256 + c) * 256 + d
    local to, responses, records = lane.to, lane.responses, lane.records
    local request_number = lane.requests[id]
    if not request_number or length ~= lane.length or records[number] or responses[id] or to.open == 0 or
        lane.list[lane.key + lane.ox_id] ~= request_number or sub(raw, parameter_from, lane.fixed_to) ~= lane.fixed then return nil end
    to.open, responses[id] = to.open - 1, number
    records[number], lane.raws[number], lane.times[number] = lane, raw, time
    return text_of(lane, raw, id)
  end

  -- ---- lanes: what is equal in many frames
  local function is_request(h, record)
    local flow = record.flow
    return not record.answers and h.iu.payload == "message_data" and h.header + frame.header_bytes == headers and h.payload > 0 and
        h.payload == h.last_word and flow and flow.complete and flow.completed_in == record.number and #flow.frames == 1
  end
  local function is_response(h, record)
    local to = record.message.to
    return record.answers and h.iu.payload == "none" and h.payload == 0 and not words.has(h, "RESP_ERR") and to.peer and
        to.connection.level == messages.reception
  end

  -- Of a frame that was read, that what comes may be like it.
  function shorts.learn(h, record, view)
    local message = record.message
    if not message or record.notes or record.same or state.in_order == false or h.is_cut or h.seq_cnt ~= 0 or h.parameter ~= 0 or
        not h.ends_sequence then return end
    local to, raw, fill, lane = message.to, h.raw, bit32.band(h.f_ctl, wire.fill_bytes_mask), nil
    if is_request(h, record) then
      local attributes = to.attributes
      local free = checks.takes_any_address(h)
      lane = {awaited = to.views[view], most = attributes and attributes.max_transfer_size or math.huge, has_address = h.opcode ~= 0,
        -- Without an address the bytes of one are 0.
        fixed = sub(raw, parameter_from, free and address_from - 1 or address_to), fixed_to = free and address_from - 1 or address_to,
        bytes = headers + fill, is_answered = to.connection.level == messages.reception,
        behind = (words.has(h, "IMM_DATA") and ", imm " .. hex_h(h.fcvi_parameter) or "") .. unshared}
      lane.list, lane.key = known.exchange_list(h.s_id), h.d_id * 65536
    elseif is_response(h, record) then
      local bytes = frame.header_bytes + h.length
      lane = {is_answer = true, fixed = sub(raw, parameter_from, bytes), fixed_to = bytes, bytes = bytes + fill, length = bytes + fill,
        behind = unshared}
      lane.list, lane.key = known.exchange_list(h.d_id), h.s_id * 65536
    else
      return
    end
    lane.is_short, lane.to, lane.view, lane.iu, lane.df_ctl, lane.name = true, to, view, h.iu, h.df_ctl, h.iu.name .. " msg "
    lane.requests, lane.responses, lane.window = to.requests, to.responses, to.connection.window
    lane.records, lane.raws, lane.times, lane.open = state.records, state.short_raws, state.short_times, state.open
    lane.take = lane.is_answer and response or request
    local prefix = sub(raw, 1, prefix_to)
    state.shorts[prefix] = state.shorts[prefix] or {}
    state.shorts[prefix][sub(raw, handle_from, handle_to)] = lane
    state.has_shorts, state.any_short = true, true
  end

  -- The lane that a frame may be of. `raw`: its headers.
  function shorts.lane(raw, view)
    local list = state.shorts[sub(raw, 1, prefix_to)]
    local lane = list and list[sub(raw, handle_from, handle_to)]
    if not lane or lane.view ~= view then return nil end
    local df_ctl, count_1, count_2, high, low, _, _, a, b, c, d = byte(raw, 14, 24)
    if df_ctl ~= lane.df_ctl or count_1 + count_2 + a + b + c + d ~= 0 then return nil end
    lane.ox_id = high * 256 + low
    return lane
  end

  -- ---- what is made of them when it is asked for
  local function message_of(lane, id)
    local to, number, answered = lane.to, lane.requests[id], lane.responses[id]
    local of, raw, time = state.records[number], state.short_raws[number], state.short_times[number]
    if of.message then return of.message end
    local total = number_at(raw, length_from)
    local flow = {id = id, total = total, time = time, count = 0, offset = total, bytes = total, seq_id = byte(raw, 13),
      in_sequence = false, frames = {number}, ended = true, complete = true, completed_in = number}
    local message = {id = id, iu = of.iu, opcode = of.iu.opcode, to = to, number = number, time = time, total = total,
      rmt_va_high = number_at(raw, 41), rmt_va = number_at(raw, 45), rmt_va_handle = number_at(raw, 49), flags = byte(raw, 30),
      parameter = number_at(raw, parameter_from), flows = {[of.view] = flow}, raw = raw, begun = true, answered = answered,
      answer_time = answered and state.short_times[answered], failed = answered and false}
    if to.requests == lane.requests then to.messages[id] = to.messages[id] or message end  -- else frames are missing behind it
    state.records[number] = {number = number, time = time, message = message, flow = flow, own_notes = 0, open = state.open[number]}
    state.views[number] = of.view
    return message
  end

  -- The record of a frame of which only the headers are kept.
  function shorts.record(number)
    local lane = state.records[number]
    local message = message_of(lane, number_at(state.short_raws[number], id_at))
    if state.records[number] ~= lane then return state.records[number] end
    local record = {number = number, time = state.short_times[number], message = message, answers = message,
      request = message.number, request_time = message.time, own_notes = 0}
    state.records[number], state.views[number] = record, lane.view
    return record
  end

  local function restored(number)
    local found = state.records[number]
    if found.is_short then found = shorts.record(number) end
    return found
  end

  -- The Exchange of a request of which only the headers are kept.
  function known.restored_exchange(number)
    local message = restored(number).message
    return {number = number, time = message.time, iu = message.iu, message = message}
  end

  -- A message to an endpoint, nil if there was none.
  function known.message_to(one, id)
    local number = one.requests[id]
    return one.messages[id] or number and restored(number).message
  end

  -- `raw`: and what stands behind them. `bytes`: how many the headers have.
  local function has_headers(number, raw, bytes) return number and sub(raw, 1, bytes) == sub(state.short_raws[number], 1, bytes) end

  -- The frame with these headers, of those of which only the headers are kept.
  function shorts.seen(raw)
    if not state.any_short or #raw < response_header then return nil end
    local high, middle, low = byte(raw, 2, 4)
    local one, id = known.endpoint((high * 256 + middle) * 256 + low, number_at(raw, handle_from)), number_at(raw, id_at)
    if not one then return nil end
    local number = one.requests[id]
    if not has_headers(number, raw, headers) then
      number = one.peer and one.peer.responses[id]
      if not has_headers(number, raw, response_header) then return nil end
    end
    restored(number)
    return number
  end
end

-- ---- tracking: the numbers of a Sequence, in one view --------------------------------------------------------------------
local flows = {}

do
  local band = bit32.band

  -- All that a message of one frame has is named here: a table that grows takes most of the time.
  local function new_flow(message, time, headless)
    return {id = message.id, total = message.total, time = time, headless = headless, count = nil, offset = nil, bytes = nil,
      seq_id = nil, in_sequence = nil, frames = nil, ended = nil, complete = nil, completed_in = nil}
  end

  local function unexpect(flow)
    local list, prefix = state.expected[flow.view], flow.prefix
    if list[prefix] == flow then
      list[prefix], state.expecting = nil, state.expecting - 1
    end
    flow.prefix = nil
  end

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
    if flow.prefix then unexpect(flow) end
    flow.count, flow.offset = h.seq_cnt, h.parameter + h.payload
    flow.seq_id, flow.in_sequence = h.seq_id, not h.ends_sequence
    flow.bytes = (flow.bytes or 0) + h.payload
    flow.time = record.time
    local frames = flow.frames
    if frames then
      frames[#frames + 1] = record.number
    else
      flow.frames = {record.number}
    end
  end

  -- ---- the next frame of a Sequence
  -- Most frames of a capture are in the middle of a message: one that is expected next, and whose headers are those of the
  -- frame before it but for SEQ_CNT and relative offset. If nothing was wrong with that one, nothing is with this.
  local sub, byte = string.sub, string.byte
  local headers = frame.header_bytes + wire.messages.device_header.size
  local prefix_bytes = 14  -- of the header up to SEQ_CNT
  local handle_at = frame.header_bytes + 1  -- the Device_Header is compared as frame.same_header does

  -- `list`, `key`: where the Exchange is.
  function flows.expect_next(record, h, view, list, key)
    local flow = record.flow
    if not flow or record.notes or flow.ended or h.ends_sequence or h.is_cut or h.payload == 0 or h.header == nil or
        h.iu.payload ~= "message_data" or state.in_order == false or band(h.f_ctl, wire.fill_bytes_mask) ~= 0 or
        flow.count ~= h.seq_cnt or flow.offset ~= h.parameter + h.payload then return end
    flow.prefix, flow.handle_byte, flow.header = sub(h.raw, 1, prefix_bytes), byte(h.raw, handle_at), sub(h.raw, handle_at + 1, headers)
    flow.message, flow.view, flow.is_answer, flow.ox_id = record.message, view, record.answers ~= nil, h.ox_id
    flow.list, flow.key, flow.exchange = list, key, list[key]
    local expected = state.expected[view]
    if not expected[flow.prefix] then state.expecting = state.expecting + 1 end
    expected[flow.prefix] = flow
  end

  -- The flow of which a frame with this header may be the next one. `raw`: frame header and Device_Header.
  function flows.expected(raw, view)
    local prefix = sub(raw, 1, prefix_bytes)
    local flow = state.expected[view][prefix]
    return flow and flow.prefix == prefix and flow
  end

  -- Takes the frame for the next one of the flow, if it is: then its relative offset, else nil.
  function flows.take_next(flow, raw, number, payload)
    local c1, c2, o1, o2, _, _, p1, p2, p3, p4, handle_byte = byte(raw, prefix_bytes + 1, handle_at)
    local seq_cnt, parameter = c1 * 256 + c2, ((p1 * 256 + p2) * 256 + p3) * 256 + p4
    local behind = parameter + payload
    if parameter ~= flow.offset or seq_cnt ~= (flow.count + 1) % 65536 or o1 * 256 + o2 ~= flow.ox_id or
        behind >= flow.total or flow.list[flow.key] ~= flow.exchange or
        handle_byte ~= flow.handle_byte or sub(raw, handle_at + 1, headers) ~= flow.header then return nil end
    flow.count, flow.offset, flow.bytes = seq_cnt, behind, flow.bytes + payload
    local frames = flow.frames
    frames[#frames + 1] = number
    return parameter
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

  -- A message is new in a view: after which one. What a sender began was captured where it left: else the capture began later.
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
    local began_earlier = not message.begun or view == "s" and (h.seq_cnt ~= 0 or h.parameter ~= 0)
    local headless = not awaited.message and message.to.connection.implied and began_earlier
    local flow = new_flow(message, record.time, headless)
    -- Out of order an incomplete message stays the one that is waited for.
    if state.in_order ~= false or not before or before.complete then awaited.message = flow end
    return flow
  end

  function flows.request(message, h, view, record)
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

  function flows.response(message, h, view, record)
    message.answer_flows = message.answer_flows or {}
    local flow = message.answer_flows[view]
    if not flow then
      flow = new_flow(message)
      message.answer_flows[view] = flow
    end
    follow(flow, h, record)
    record.flow = flow
    if not words.has(h, "RESP_ERR") then measure(flow, h, record, message.total, h.last_sequence and h.ends_sequence) end
  end
end

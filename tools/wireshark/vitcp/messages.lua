-- ---- tracking: messages, their segments, RDMA Reads (VI-TCP 3.2) -----------------------------------------------------------
local messages = {handlers = {}}

do
  local circle = 4294967296
  local distance = acks.distance

  local function new_message(h, record, flow)
    return {number = h.number, type = h.type, flow = flow, began_in = record.number, time = record.time, bytes = 0, segments = 0,
      total = h.total, address = h.address, address_high = h.address_high, handle = h.handle, has_immediate = h.has_immediate,
      immediate = h.immediate, data = nil}
  end

  -- ---- what the connection allows
  local function too_large(message, bytes, record)
    local mtu = message.flow.connection.mtu
    if not mtu or bytes <= mtu or message.is_too_large then return end
    message.is_too_large = true
    note(record, "too_large", ("%.0f octets, MTU Size is %.0f"):format(bytes, mtu))
  end

  local function allowed(message, h, record)
    local receiver = message.flow.peer.ce
    if receiver and h.type == wire.rdma_write and not receiver.write then
      note(record, "not_allowed", "the receiver does not take RDMA Writes")
    elseif receiver and h.type == wire.read_request and not receiver.read then
      note(record, "not_allowed", "the receiver does not take RDMA Reads")
    end
    if h.total then too_large(message, h.total, record) end
  end

  -- ---- numbers
  -- The next number of the flow; the first one that is seen, where the capture began later.
  local function take_number(h, record, flow)
    local before = flow.number
    if before and h.number ~= (before + 1) % circle then
      note(record, "message_gap", ("%08Xh after %08Xh"):format(h.number, before))
    end
    if not before or distance(before, h.number) > 0 then flow.number = h.number end
  end

  -- ---- one message after the other
  local function compare(message, h, record)
    local what
    if h.type ~= message.type then
      what = ("%s, was %s"):format(h.info.name, wire.types[message.type].name)
    elseif h.has_immediate ~= message.has_immediate or h.has_immediate and h.immediate ~= message.immediate then
      what = "Immediate Data"
    elseif h.address ~= message.address or h.address_high ~= message.address_high then
      what = "RDMA Address"
    elseif h.handle ~= message.handle then
      what = "Registered Memory Handle"
    elseif h.total ~= message.total and h.type == wire.rdma_write then
      what = ("RDMA Length %.0f, was %.0f"):format(h.total or 0, message.total or 0)
    end
    if what then note(record, "message_changed", what) end
  end

  local function begin(h, record, flow)
    local open = flow.open
    if open then
      note(record, "mixed_messages", ("%08Xh had %.0f octets"):format(open.number, open.bytes or open.doubtful_offset))
      flow.open = nil
    end
    take_number(h, record, flow)
    local message = new_message(h, record, flow)
    if h.offset ~= 0 and flow.headless then message.headless, message.bytes = true, h.offset end
    flow.headless = false
    allowed(message, h, record)
    if h.type == wire.send or h.has_immediate then acks.consume(record, flow) end
    return message
  end

  -- It is not known whether the segment before had a CRC: this one's offset tells.
  local function learn_trailer(message, h)
    local connection, transferred = message.flow.connection, h.offset - message.doubtful_offset
    if connection.crc ~= nil then return end
    if transferred == message.doubtful_bytes then connection.crc = false end
    if transferred == message.doubtful_bytes - wire.trailer_bytes then connection.crc = true end
  end

  local function add_frame(message, record)
    message.segments = message.segments + 1
    if message.segments == 1 then return end
    local frames = message.frames
    if not frames then
      frames = {message.began_in}
      message.frames = frames
    end
    if frames[#frames] ~= record.number then frames[#frames + 1] = record.number end
  end

  -- `payload`: octets, nil where that is not known (was there a CRC?).
  local function add_segment(message, h, record, payload)
    record.message = message
    if not message.bytes then
      learn_trailer(message, h)
    elseif h.offset ~= message.bytes then
      note(record, "offset_gap", ("%.0f, %.0f octets were transferred"):format(h.offset, message.bytes))
      message.broken = true
    end
    message.bytes = payload and h.offset + payload
    if not payload then
      message.doubtful_offset, message.doubtful_bytes = h.offset, h.length - wire.header_bytes - h.info.following_bytes
    end
    if message.headless or not payload then message.broken = true end
    add_frame(message, record)
    record.bytes, record.segment = message.bytes, message.segments
    if payload then too_large(message, message.bytes, record) end
    if h.transmit_error then message.transmit_error = true end
  end

  -- Ends where its length says, and there only.
  local function extent(message, h, record, payload)
    if not payload or not message.total then return end
    if message.bytes > message.total or h.ends ~= (message.bytes == message.total) then
      note(record, "wrong_extent", ("%.0f of %.0f octets%s"):format(message.bytes, message.total, h.ends and ", end" or ""))
    end
  end

  -- Send and RDMA Write.
  local function data(h, record, flow, payload)
    local message = flow.open
    if message and message.number == h.number then
      compare(message, h, record)
    else
      message = begin(h, record, flow)
      flow.open = message
    end
    add_segment(message, h, record, payload)
    if h.type == wire.rdma_write then extent(message, h, record, payload) end
    if not h.ends then return end
    flow.open = nil
    message.ended_in, message.end_time, message.is_complete = record.number, record.time, not message.broken
    local level = flow.connection.level
    if not level or level == wire.reliable_reception then acks.expect(flow, message) end
    track.ended(message)
  end

  -- ---- RDMA Reads
  local function read_request(h, record, flow)
    local message = begin(h, record, flow)
    record.message = message
    message.ended_in, message.end_time, message.answered_bytes = record.number, record.time, 0
    flow.reads[h.number] = message
    flow.read_count = flow.read_count + 1
    local window = flow.peer.ce and flow.peer.ce.window
    if window and flow.read_count > window then
      note(record, "read_window", ("%d open, the window is %d"):format(flow.read_count, window))
    end
    track.ended(message)
  end

  -- The request that a response names: one that was before the capture is made up.
  local function requested(h, record, flow)
    local asker = flow.peer
    local message = asker.reads[h.number]
    if message then return message end
    if asker.reads_are_known then
      note(record, "unknown_read", ("%08Xh"):format(h.number))
      return nil
    end
    message = new_message(h, record, asker)
    message.type, message.total, message.answered_bytes, message.before_capture = wire.read_request, nil, 0, true
    asker.reads[h.number] = message
    asker.read_count = asker.read_count + 1
    return message
  end

  local function open_response(h, record, flow, message)
    local before = flow.response
    if before and before.read ~= message then
      note(record, "mixed_messages", ("the response to %08Xh had %.0f octets"):format(before.number, before.bytes or before.doubtful_offset))
      before = nil
    end
    if not before then
      before = new_message(h, record, flow)
      before.read, before.total = message, message.total
      if flow.is_torn and h.offset ~= 0 then before.headless, before.bytes = true, h.offset end
      flow.response, flow.is_torn = before, false
    end
    return before
  end

  local function read_response(h, record, flow, payload)
    local message = requested(h, record, flow)
    if not message then return end
    local response = open_response(h, record, flow, message)
    add_segment(response, h, record, payload)
    if not message.before_capture then record.request, record.request_time = message.began_in, message.time end
    if not h.transmit_error then extent(response, h, record, payload) end
    if not h.ends then return end
    flow.response = nil
    response.ended_in, response.is_complete = record.number, not response.broken
    record.ends_read = true
    local asker = flow.peer
    asker.reads[h.number] = nil
    asker.read_count = asker.read_count - 1
    message.answer, message.failed = record.number, h.transmit_error or nil
    track.read_answered(message, record)
  end

  -- ---- NOP
  -- It repeats the last number; within a message that of this one or of the one before.
  local function nop(h, record, flow)
    local last = flow.number
    if not last then
      flow.number = h.number
    elseif h.number ~= last and not (flow.open and h.number == (last - 1) % circle) then
      note(record, "nop_number", ("%08Xh, the last message is %08Xh"):format(h.number, last))
    end
  end

  messages.handlers[wire.send] = data
  messages.handlers[wire.rdma_write] = data
  messages.handlers[wire.read_request] = read_request
  messages.handlers[wire.read_response] = read_response
  messages.handlers[wire.nop] = nop
end

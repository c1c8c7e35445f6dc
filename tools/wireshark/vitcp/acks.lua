-- ---- tracking: Message ACK, Rx Descriptors Posted (VI-TCP 3.2) -----------------------------------------------------------
-- Only at Reliable Reception a Message ACK has a meaning. Where the capture does not tell the level it is taken for one if it fits,
-- and for nothing if not.
local acks = {}

do
  local circle, half = 4294967296, 2147483648
  local function distance(from, to)
    local steps = (to - from) % circle
    return steps < half and steps or steps - circle
  end
  acks.distance = distance

  -- Messages of `flow` that wait for an ACK, oldest first.
  function acks.expect(flow, message)
    local list = flow.unacknowledged
    list.last = list.last + 1
    list[list.last] = message
  end

  -- `record` acknowledges all up to that number.
  local function acknowledge(flow, number, record, failure)
    local list, acknowledged = flow.unacknowledged, nil
    while list.first <= list.last and distance(list[list.first].number, number) >= 0 do
      acknowledged = list[list.first]
      list[list.first] = nil
      list.first = list.first + 1
      acknowledged.acknowledged_in = record.number
    end
    local open = flow.open
    if failure and open and open.number == number then acknowledged, open.acknowledged_in = open, record.number end
    if not acknowledged then return end
    record.acknowledges = acknowledged
    acknowledged.failure = failure
    track.acknowledged(acknowledged, record)
  end

  -- Whether the ACK may be.
  local function judge(h, record, flow, failure)
    local behind = distance(flow.acked, h.ack)
    if distance(h.ack, flow.number) < 0 then
      note(record, "ack_of_unsent", ("%08Xh, the last message is %08Xh"):format(h.ack, flow.number))
    elseif behind < 0 then
      note(record, "ack_goes_back", ("%08Xh, before it was %08Xh"):format(h.ack, flow.acked))
    elseif behind > 0 and not failure and flow.open and flow.open.number == h.ack then
      note(record, "early_ack", ("%08Xh"):format(h.ack))
    else
      return true
    end
    return false
  end

  -- `flow`: the one that is acknowledged. After an error ACKs are invalid.
  local function message_ack(h, record, flow, level)
    local failure = segment.vi_error(h.error) ~= 0 and h.error or nil
    if flow.acks_end or h.ack == flow.acked and not failure then return end
    if not flow.acked or not flow.number then  -- the capture began later, or has a gap
      flow.acked = h.ack
      acknowledge(flow, h.ack, record, failure)
      return
    end
    if level then
      if not judge(h, record, flow, failure) then return end
    elseif distance(h.ack, flow.number) < 0 or distance(flow.acked, h.ack) < 0 then
      return
    end
    flow.acked, flow.acks_end = h.ack, failure ~= nil
    acknowledge(flow, h.ack, record, failure)
  end

  -- Ruling V-6: queues hold fewer than 65,536, so the difference is exact.
  local function posted(h, record, flow)
    local before = flow.posted
    flow.posted = h.posted
    if not before or before == h.posted or not flow.consumed then return end
    local left, more = (before - flow.consumed) % 65536, (h.posted - before) % 65536
    if left + more >= 65536 then note(record, "wrong_posted", ("%d, before it was %d"):format(h.posted, before)) end
  end

  -- What a segment of `flow` says of the other direction, and of its sender's receive queue.
  function acks.read(h, record, flow)
    if flow.posted ~= h.posted then posted(h, record, flow) end
    local level = flow.connection.level
    if not level or level == wire.reliable_reception then
      record.with_errors = true
      message_ack(h, record, flow.peer, level)
    end
  end

  -- A message of `flow` that needs a receive descriptor begins. Only descriptor flow control lets its sender wait for one.
  function acks.consume(record, flow)
    local to = flow.peer
    if not to.consumed then return end
    if to.posted ~= to.consumed then
      to.consumed = (to.consumed + 1) % 65536
    elseif flow.ce and flow.ce.flow_control then
      note(record, "no_descriptor", ("%d posted"):format(to.posted))
    end
  end
  -- How many are left; nil where the capture does not tell.
  function acks.left(flow)
    if not flow.consumed then return nil end
    return (flow.posted - flow.consumed) % 65536
  end
end

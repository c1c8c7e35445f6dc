-- ---- the octets of one direction of a TCP connection: where segments begin -----------------------------------------------
-- Wireshark hands over what follows what it had, put together as asked for (desegment), or, where octets are missing, what
-- comes behind them. So each call is compared with where the octets before it ended. As long as it is known where the next
-- segment begins (`boundary`), octets up to there are passed over; else the next TCP segment that looks like the begin of one is
-- taken for it.
local stream = {}

do
  local tcp_stream, tcp_seq, tcp_completeness = Field.new("tcp.stream"), Field.new("tcp.seq"), Field.new("tcp.completeness")
  local tcp_len, tcp_ack, urgent_flag, urgent_pointer = Field.new("tcp.len"), Field.new("tcp.ack"),
      Field.new("tcp.flags.urg"), Field.new("tcp.urgent_pointer")
  local circle, half = 4294967296, 2147483648
  local kept_head = 24

  -- The innermost of several TCP headers.
  local function last_of(...) return select(select("#", ...), ...) end
  local function value_of(field)
    local one, other = field()
    if other then one = last_of(field()) end
    return one and one.value
  end
  -- The number of the TCP connection; nil where Wireshark makes no items.
  function stream.number() return value_of(tcp_stream) end

  -- The capture has the connection from its SYN on: its first octets are numbered 1.
  function stream.saw_syn()
    return (value_of(tcp_completeness) or 0) % 2 == 1 and get_preference("tcp.relative_sequence_numbers") == true
  end

  -- `from_start`: as saw_syn() says.
  function stream.new(from_start)
    local first = from_start and 1 or nil
    return {synced = from_start, next = first, boundary = first, frame = nil, pending = nil, head = nil, urgent = nil}
  end

  -- How far `to` is behind `from`: negative, before it.
  local function distance(from, to)
    local steps = (to - from) % circle
    return steps < half and steps or steps - circle
  end

  -- Whether Wireshark put the octets together, from the one on that is expected: they are no part of a frame then.
  local function goes_on(one, tvb, reported)
    if tvb:offset() ~= 0 or not one.next then return false end
    return not one.pending or reported > one.pending_bytes and tvb:raw(0, math.min(#one.head, tvb:len())) == one.head
  end

  -- Where the octets of this call begin: they are those of the frame up to the last. In the first of two passes of tshark (-2)
  -- without a filter there are no items: then what comes is what follows, unless it is not what was waited for.
  local function place(one, number, tvb, reported)
    if one.frame == number then return one.next end
    one.frame, one.seq = number, value_of(tcp_seq)
    if goes_on(one, tvb, reported) then return one.next end
    if one.seq then return (one.seq + value_of(tcp_len) - reported) % circle end
    if not one.pending then return one.next or 1 end
    one.boundary = nil
    return one.next + 1
  end

  -- VI-TCP 3.7: only the first octet of a segment may be urgent. Where it is in the stream, nil: none.
  local function urgent_at(seq)
    if not value_of(urgent_flag) then return nil end
    return (seq + (value_of(urgent_pointer) or 0)) % circle
  end

  -- Begins a call for octets of which `reported` were on the wire. Returned: how many of them were there before, and whether some
  -- are missing before them.
  function stream.begin(one, number, tvb, reported)
    local is_next_call = one.frame == number
    local at, expected = place(one, number, tvb, reported), one.next
    local urgent = not is_next_call and one.seq and urgent_at(one.seq)
    if urgent then one.urgent = urgent end
    if not expected then
      one.next, one.boundary = at, at
      return 0, false
    end
    local ahead = distance(expected, at)
    if ahead < 0 and -ahead >= reported then return reported, false end
    if one.pending and ahead <= 0 then one.boundary = expected end
    one.pending = nil
    if ahead > 0 then
      one.next = at
      one.synced = one.boundary ~= nil and distance(at, one.boundary) >= 0
    end
    return ahead < 0 and -ahead or 0, ahead > 0
  end

  -- Whether the frame acknowledges octets of the other direction that the capture does not have: all of a segment that waits for
  -- its end, or more than what was seen (a FIN counts as one). Said once.
  function stream.acknowledges_unseen(other)
    local seen, most = other.next, 1
    if other.pending and other.boundary then
      seen, most = other.boundary, -1
    elseif other.pending then
      seen = (seen + other.pending_bytes) % circle
    end
    local ack = seen and seen ~= other.unseen_from and value_of(tcp_ack)
    if not ack or distance(seen, ack) <= most then return false end
    other.unseen_from = seen
    return true
  end

  -- Octets of the segment before, of those that are left in the call; all where no begin is known.
  function stream.behind(one, left)
    if not one.synced then return left end
    local rest = one.boundary and distance(one.next, one.boundary) or 0
    return rest > 0 and math.min(rest, left) or 0
  end

  function stream.lose(one) one.synced, one.boundary = false, nil end
  function stream.find(one) one.synced, one.boundary = true, one.next end

  function stream.pass(one, bytes) one.next = (one.next + bytes) % circle end
  -- A segment begins here.
  function stream.take(one, length) one.boundary = (one.next + length) % circle end

  -- The octets from here on, `left` of them, come again with those that follow them.
  function stream.wait(one, raw, left, length)
    one.pending, one.pending_bytes, one.head = true, left, raw:sub(1, kept_head)
    one.boundary = length and (one.next + length) % circle or nil
  end

  -- Whether an octet within the segment of `length` that begins here is urgent: which, from 0 on; else nil.
  function stream.urgent_octet(one, length)
    local urgent = one.urgent
    if not urgent then return nil end
    local at = distance(one.next, urgent)
    if at >= length then return nil end
    one.urgent = nil
    return at >= 0 and at or nil
  end
end

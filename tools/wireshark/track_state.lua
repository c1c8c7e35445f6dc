-- ---- tracking: what is known of ports, connections and Exchanges ----------------------------------------------------------
-- Wireshark shows frames in any order, but reads them in the capture's order once: then a record of each frame is made,
-- from which everything else is shown. A capture of both ends of a link has most frames twice, as sent and as received.
-- What a frame does to a connection counts once; what can be missing or out of order (SEQ_CNT, offsets, message numbers)
-- is followed for each view by itself: "s" frames that were sent, "r" received, "u" where the capture does not tell.
-- These parts have it: track_flow.lua (the numbers of a Sequence), track_message.lua, track_short.lua (messages of one frame),
-- track_setup.lua, track_login.lua, and track.lua, the entrance.
local track = {}  -- what the parts behind them call; statistics.lua adds what it wants to hear of
local state = {}  -- of the capture that is open
local known = {}

do
  local default_r_a_tov = 10  -- seconds, where no FLOGI tells

  -- Of each view: flows by the first bytes of the header that their next frame has. How many there are.
  function known.expect_nothing() state.expected, state.expecting = {s = {}, r = {}, u = {}}, 0 end

  -- Of recent frames: numbers, by their headers; the headers, by number.
  function known.forget_seen()
    state.seen, state.seen_before, state.seen_count, state.raws, state.raws_before = {}, {}, 0, {}, {}
  end

  -- Of frames that may be like earlier ones: see track_short.lua.
  function known.forget_shorts() state.shorts, state.has_shorts = {}, false end

  function known.reset()
    state.records, state.exchanges, state.ports, state.logins, state.connections, state.setups = {}, {}, {}, {}, {}, {}
    state.begun = {}  -- by pair of ports: the latest PLOGI
    known.forget_seen()
    -- By number, of frames in the middle of a message, of which no more is kept than their flow; `views` of all frames.
    state.open, state.same, state.views = {}, {}, {}
    state.short_raws, state.short_times, state.any_short = {}, {}, false
    known.expect_nothing()
    known.forget_shorts()
    state.in_order, state.r_a_tov = nil, default_r_a_tov
  end

  function known.exchange_list(originator)
    local list = state.exchanges[originator]
    if not list then
      list = {}
      state.exchanges[originator] = list
    end
    return list
  end

  -- By FCVI_RQST_HANDLE. (One number of both would have 56 bits: more than those of Lua 5.2 hold.)
  function known.setups_of(port)
    local setups_of = state.setups[port]
    if not setups_of then
      setups_of = {}
      state.setups[port] = setups_of
    end
    return setups_of
  end

  function known.pair_of(a, b)
    if a < b then return a * 16777216 + b end
    return b * 16777216 + a
  end
  -- The frame of the latest PLOGI between two ports; 0: none. Ids that were used before it are free again.
  function known.login_of(a, b)
    local login = state.begun[known.pair_of(a, b)]
    return login and login.number or 0
  end

  -- The Exchange of a frame; its responder is part of the key, since OX_IDs count for each pair of ports. A login ends those
  -- before it.
  function known.exchange_key(h)
    local from, to = h.s_id, h.d_id
    if h.responder then from, to = to, from end
    local list, key = known.exchange_list(from), to * 65536 + h.ox_id
    local exchange = list[key]
    if type(exchange) == "number" then
      exchange = known.restored_exchange(exchange)
      list[key] = exchange
    end
    if exchange and exchange.number < known.login_of(from, to) then list[key] = nil end
    return list, key
  end

  -- The login of the two ports is in the capture: what they say afterwards is known from its beginning.
  function known.is_whole(h) return state.logins[known.pair_of(h.s_id, h.d_id)] ~= nil end

  function known.endpoint(port, handle)
    local handles = state.ports[port]
    return handles and handles[handle]
  end
  function known.add_endpoint(port, handle, connection)
    local handles = state.ports[port]
    if not handles then
      handles = {}
      state.ports[port] = handles
    end
    -- `messages`: those sent to it, by number; `views`: which of them comes next; the latter two: frames of short ones.
    local made = {port = port, handle = handle, connection = connection, messages = {}, views = {}, open = 0,
      requests = {}, responses = {}}
    handles[handle] = made
    return made
  end

  function known.new_connection(record)
    local connection = {index = #state.connections + 1, first = record.number}
    state.connections[connection.index] = connection
    return connection
  end

  function known.join(one, other)
    one.peer, other.peer = other, one
    known.forget_shorts()
  end

  -- An endpoint of which the capture has no set-up. Its other end is learnt from answers.
  function known.implied_endpoint(port, handle, record)
    local connection = known.new_connection(record)
    connection.implied = true
    return known.add_endpoint(port, handle, connection)
  end

  -- Of an implied connection the other end becomes known.
  function known.learn_peer(one, port, handle, record)
    local other = known.endpoint(port, handle)
    if not other then
      other = known.add_endpoint(port, handle, one.connection)
    elseif other.peer then
      return
    else
      other.connection = one.connection
    end
    known.join(one, other)
    record.connection = one.connection
  end

  function known.set_level(connection, level)
    if connection.level then return end
    connection.level = level
    known.forget_shorts()
  end
end

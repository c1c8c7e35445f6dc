-- ---- tracking: link services, logins -----------------------------------------------------------------------------------------
do
  local band = bit32.band
  local exchange_key, pair_of = known.exchange_key, known.pair_of

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

  -- What is wanted of a frame was cut off: the rest of what its ports say is judged as if its beginning was not captured.
  function known.lose_track(h)
    state.logins[pair_of(h.s_id, h.d_id)] = nil
    for at, from in pairs({[h.d_id] = h.s_id, [h.s_id] = h.d_id}) do
      for _, one in pairs(state.ports[at] or {}) do
        if not one.peer or one.peer.port == from then
          one.connection.implied, one.connection.window, one.views = true, nil, {}
        end
      end
    end
  end

  -- A login or logout ends what was between two ports (FC-FS).
  local function forget_connections(one, other)
    for _, port in ipairs({one, other}) do
      for handle, found in pairs(state.ports[port] or {}) do
        local peer = found.peer and found.peer.port
        if peer == one or peer == other then state.ports[port][handle] = nil end
      end
    end
  end

  -- PLOGI, where it is seen first: set-ups, Exchanges and ids before it are no more.
  local function plogi(h, number, view)
    local pair, raw = pair_of(h.s_id, h.d_id), h.raw
    local begun = state.begun[pair] or {}
    local latest = begun[h.s_id]
    if latest and latest.raw == raw and view ~= "u" and not latest.views:find(view, 1, true) then
      latest.views = latest.views .. view
      return
    end
    forget_connections(h.s_id, h.d_id)
    -- That of the other port may be on its way.
    begun.number, begun[h.s_id] = number, {raw = raw, views = view}
    state.logins[pair], state.begun[pair] = true, begun
  end

  -- LS_ACC of FLOGI: whether the fabric keeps the order of frames, and for how long it may hold one. Of an answer as long as that
  -- which was cut neither is known.
  local function reply_of_fabric(h)
    local size = wire.messages.login.size
    if h.length < size then return end
    if h.captured < size then
      state.in_order = false
    elseif h.tvb(h.at, 1):uint() == 0x02 then
      state.in_order = band(h.tvb(h.at + options_at, 2):uint(), wire.sequential_delivery) ~= 0
      state.r_a_tov = h.tvb(h.at + r_a_tov_at, 4):uint() / 1000
    end
  end

  local function extended_link_service(h, number, view)
    known.forget_shorts()
    if h.r_ctl == 0x23 and h.s_id == 0xFFFFFE then return reply_of_fabric(h) end
    if h.captured < 1 then return end
    local command = h.tvb(h.at, 1):uint()
    local pair = pair_of(h.s_id, h.d_id)
    if h.r_ctl == 0x22 and command == 0x03 then
      plogi(h, number, view)
    elseif h.r_ctl == 0x22 and command == 0x05 then  -- LOGO
      forget_connections(h.s_id, h.d_id)
      state.logins[pair] = nil
    end
  end

  function track.read_other(h, number, view)
    known.expect_nothing()
    if h.r_ctl == 0x22 or h.r_ctl == 0x23 then return extended_link_service(h, number, view) end
    return track.read_link_service(h, number)
  end

  -- Of a lost frame it is known all the same.
  function track.read_link_service(h, number)
    if band(h.r_ctl, 0xF0) == 0x80 then return link_service(h, number) end
    return nil
  end
end

-- ---- the tree and the columns ------------------------------------------------------------------------------------------
local dissect = {}

do
  local band = bit32.band

  -- Where a tree is made but not shown (tshark without -V), it has only the fields that somebody asked for. Of any other
  -- Wireshark hands back the item above. Which those are stays the same during a pass: they are not added again, which
  -- would take most of the time. nil: a tree is shown, or there is a window, where each frame may be asked for others.
  local unasked
  local unasked_in = {}
  local function wanted(field) return not (unasked and unasked[field]) end

  local function put(tree, field, tvb, at, bytes)
    if unasked and unasked[field] then return tree end
    local node = tree:add(field, tvb(at, bytes))
    if unasked and node.len ~= bytes then unasked[field] = true end
    return node
  end

  -- What is not on the wire: such an item has no bytes.
  local function generated(tree, field, value)
    if unasked and unasked[field] then return tree end
    local node = tree:add(field, value)
    if unasked and node.len ~= 0 then
      unasked[field] = true
      return node
    end
    return node:set_generated()
  end

  -- Fields of a layout; bytes beyond what was captured are left out.
  local function add_items(tree, tvb, at, items)
    local captured = tvb:len()
    for _, item in ipairs(items) do
      local from = at + item.offset
      if from + item.bytes <= captured then
        local node = put(tree, item.field, tvb, from, item.bytes)
        if item.fields then add_items(node, tvb, at, item.fields) end
      end
    end
  end
  dissect.add_items = add_items

  local function flag_words(h)
    local names = {}
    for _, flag in ipairs(h.iu.flags) do
      local is_mode = flag.name == "CLIENT_SERVER" or flag.name == "PEER_TO_PEER"
      if (is_mode and band(h.flags, 7) == flag.value) or (not is_mode and band(h.flags, flag.value) ~= 0) then
        names[#names + 1] = flag.name
      end
    end
    return table.concat(names, ", ")
  end

  local function add_flags(tree, h, at)
    local node = put(tree, F.flags, h.tvb, at, 1)
    if not unasked then
      local set = flag_words(h)
      if set ~= "" then node:append_text(" (" .. set .. ")") end
    end
    for _, field in ipairs(flag_fields[h.opcode]) do put(node, field, h.tvb, at, 1) end
  end

  local function add_parameter(tree, h, at)
    local node = put(tree, F.parameter, h.tvb, at, 4)
    if not frame.has(h, h.iu.parameter_flag) then return end
    if h.iu.category == "message_request" then
      put(node, F.immediate_data, h.tvb, at, 4)
    else
      local status = put(node, F.status, h.tvb, at, 4)
      if not unasked then status:append_text(": " .. words.reason(h.fcvi_parameter)) end
      add_items(status, h.tvb(at, 4):tvb(), 0, wire.messages.status.fields)
    end
  end

  local function add_device_header(tree, h)
    local tvb = h.tvb
    for _, item in ipairs(wire.messages.device_header.fields) do
      if item.offset + item.bytes <= h.header then
        local at = h.at + item.offset
        if item.name == "flags" then
          add_flags(tree, h, at)
        elseif item.name == "parameter" then
          add_parameter(tree, h, at)
        elseif item.name == "tot_len_or_connection_id" then
          put(tree, h.iu.category:find("message", 1, true) and F.tot_len or F.connection_id, tvb, at, 4)
        else
          put(tree, item.field, tvb, at, item.bytes)
        end
      end
    end
  end

  -- What of the header is there, where it is not as it should be.
  local function add_broken_header(tree, h)
    for _, item in ipairs(wire.messages.device_header.fields) do
      if item.offset + item.bytes <= h.captured and item.name ~= "tot_len_or_connection_id" then
        put(tree, item.field, h.tvb, h.at + item.offset, item.bytes)
      end
    end
  end

  local function add_connect(tree, tvb, at)
    if at + wire.connect_bytes > tvb:len() then return end
    local info_bytes = wire.connect_bytes_with_info - wire.connect_bytes
    local with_info = tvb:len() - at >= wire.connect_bytes_with_info
    local node = put(tree, F.connect, tvb, at, wire.connect_bytes + (with_info and info_bytes or 0))
    add_items(node, tvb, at, wire.messages.connect.fields)
    return node, with_info, info_bytes
  end

  local function add_payload(tree, h, record)
    if h.iu.payload == "connect_info" and record.payload then
      local tvb, at = h.tvb, h.payload_at
      if record.whole then tvb, at = ByteArray.new(record.whole, true):tvb("FC-VI connect payload"), 0 end
      local node = add_connect(tree, tvb, at)
      if node then
        generated(node, F["connect.discriminator"], words.discriminator(record.payload.to.shown))
        if words.has(h, "CONN_INFO") and at + wire.connect_bytes_with_info <= tvb:len() then
          put(node, F["connect.connect_info"], tvb, at + wire.connect_bytes,
            wire.connect_bytes_with_info - wire.connect_bytes)
        end
      end
    elseif h.payload_captured > 0 and wanted(F.data) then
      put(tree, F.data, h.tvb, h.payload_at, h.payload_captured):append_text((" (%d bytes)"):format(h.payload))
    end
  end

  local function end_text(one)
    if not one then return "?" end
    local text = id_text(one.port)
    if one.address then text = text .. " " .. words.host(one.address.host) end
    return text .. ", handle " .. hex_h(one.handle)
  end

  local function add_connection(tree, record)
    local message = record.message
    local connection = message and message.to.connection or record.connection or record.setup and record.setup.connection
    if not connection then return end
    local node = generated(tree, F.connection, connection.index)
    local originator, responder = connection.originator, connection.responder
    if not originator and message then
      originator, responder = message.to.peer, message.to
    end
    if responder then
      if wanted(F["connection.originator"]) then generated(node, F["connection.originator"], end_text(originator)) end
      if wanted(F["connection.responder"]) then generated(node, F["connection.responder"], end_text(responder)) end
    end
    if connection.originator then
      if wanted(F["connection.discriminator"]) then
        generated(node, F["connection.discriminator"], words.discriminator(responder.address.shown))
      end
      generated(node, F["connection.setup"], connection.setup)
    end
    if connection.level then
      generated(node, F["connection.level"], wire.levels[connection.level] or "unknown")
    elseif connection.without_response then
      generated(node, F["connection.level"], "unreliable_delivery or reliable_delivery")
    end
    if connection.window then generated(node, F["connection.window"], UInt64.new(connection.window)) end
    if record.open and record.open > 0 then generated(node, F["connection.open"], record.open) end
  end

  local function time_since(record)
    local time = record.time - record.request_time
    local seconds = math.floor(time)
    return NSTime.new(seconds, math.floor((time - seconds) * 1e9 + 0.5))
  end

  local function add_links(tree, record)
    if record.request and record.request ~= record.number then
      generated(tree, F.request_in, record.request)
      if record.time >= record.request_time and wanted(F.time) then generated(tree, F.time, time_since(record)) end
    end
    local message, exchange = record.message, record.exchange
    local response = message and not record.answers and message.answered or
        not record.request and exchange and exchange.response
    if response then generated(tree, F.response_in, response) end
    if record.retry_of then generated(tree, F.retry_of, record.retry_of) end
    if record.same then generated(tree, F.same_frame, record.same) end
  end

  local function add_message(tree, h, record)
    local flow, message = record.flow, record.message
    if not flow or h.iu.payload ~= "message_data" then return end
    local node = wanted(F.message) and tree:add(F.message):set_generated() or tree
    if not unasked then
      node:append_text((" %.0f of %s"):format(message.id, words.bytes(flow.total)))
    elseif node.len ~= 0 then
      unasked[F.message] = true
    end
    generated(node, F["message.frames"], #flow.frames)
    generated(node, F["message.bytes"], flow.bytes)
    generated(node, F["message.complete"], flow.complete == true)
    if flow.completed_in ~= record.number then return end
    if wanted(F["message.frame"]) then
      for _, number in ipairs(flow.frames) do generated(node, F["message.frame"], number) end
    end
    if not wanted(F["message.data"]) then return end
    if message.data then
      put(node, F["message.data"], ByteArray.new(message.data, true):tvb("FC-VI message"), 0, #message.data)
    elseif #flow.frames == 1 and h.payload_captured == h.payload and h.payload > 0 then
      put(node, F["message.data"], h.tvb, h.payload_at, h.payload_captured)
    end
  end

  local function add_notes(tree, record)
    if not record.notes then return end
    for _, found in ipairs(record.notes) do
      generated(tree, F.violation, found.key):add_proto_expert_info(experts[found.key].expert, found.text)
    end
  end

  -- Numbers of 32 bits are beyond "%d" where the C type `long` has 32 bits; "%.0f" takes thrice the time.
  local function part_format(h) return h.parameter < 2147483648 and "%s [%d+%d%s" or "%s [%.0f+%d%s" end

  -- The words of the Info column; of a message of several frames also which part this is.
  local function info(h, record)
    if not h.iu then return "FC-VI" .. (h.opcode and (", opcode %02Xh"):format(h.opcode) or ", truncated") end
    if not h.header then return h.iu.name .. ", truncated" end
    local message = record.message
    local text = message and not record.answers and message.words
    if not text then
      local fields = words.fields(h, record.payload)
      text = fields == "" and h.iu.name or h.iu.name .. " " .. fields
      if message and not record.answers then message.words = text end
    end
    if h.iu.payload == "message_data" and h.payload ~= h.last_word then
      if not message or h.last_word ~= message.total then
        return part_format(h):format(text, h.parameter, h.payload, " of " .. words.bytes(h.last_word) .. "]")
      end
      message.size = message.size or " of " .. words.bytes(message.total) .. "]"
      return part_format(h):format(text, h.parameter, h.payload, message.size)
    end
    return text
  end

  local without_tree, is_shown = {}, {}
  local has_window = gui_enabled()
  function dissect.reset() without_tree, is_shown, unasked_in = {}, {}, {[true] = {}, [false] = {}} end

  -- A frame in the middle of a message, of which nobody asked for anything that it can show. Most frames are such.
  local in_middle = {F.iu, F.data, F.connection, F["connection.originator"], F["connection.responder"], F.message,
    F["message.frames"], F["message.bytes"], F["message.complete"], F.flags, F.parameter, F.tot_len}
  local of_set_up = {F["connection.discriminator"], F["connection.setup"], F["connection.window"], F["connection.level"]}
  local function none_wanted(fields)
    for _, field in ipairs(fields) do
      if not unasked[field] then return false end
    end
    return true
  end
  local function is_unasked(message, h)
    if h.payload == 0 or frame.has(h, h.iu.parameter_flag) then return false end
    for _, item in ipairs(wire.messages.device_header.fields) do
      if item.name ~= "tot_len_or_connection_id" and not unasked[item.field] then return false end
    end
    return none_wanted(in_middle) and none_wanted(flag_fields[h.opcode]) and message.to.connection.originator ~= nil and
        none_wanted(of_set_up)
  end
  local function shows_nothing(h, record)
    local message, flow = record.message, record.flow
    if not message or not flow or record.notes or record.request or message.answered or record.same and wanted(F.same_frame) or
        flow.completed_in == record.number or record.number == message.number then return false end
    if message.unasked_in ~= unasked then
      if not is_unasked(message, h) then return false end
      message.unasked_in = unasked
    end
    return not record.open or record.open == 0 or not wanted(F["connection.open"])
  end

  -- `again`: the frame was read before.
  function dissect.iu(h, pinfo, tree, record, again)
    local text, columns = info(h, record), pinfo.cols
    columns.protocol = "FC-VI"
    columns.info = text
    -- tshark makes trees for all frames of a pass or for none; Wireshark for the frame that is looked at.
    if without_tree[again] and not record.notes then return end
    if is_shown[again] == nil then is_shown[again] = has_window or tree.visible end
    unasked = not is_shown[again] and unasked_in[again] or nil
    if unasked and shows_nothing(h, record) then
      if wanted(F["message.data"]) then reassembly.add(h, record) end
      return
    end
    local node = tree:add(fcvi, h.tvb(h.at, h.captured))
    if node.len == 0 and h.captured > 0 then
      without_tree[again] = not has_window
      if record.notes then add_notes(node, record) end
      return
    end
    if wanted(F["message.data"]) then reassembly.add(h, record) end
    frame.parse_device_header(h)  -- of a frame that continues a message it was not needed before
    if not unasked then node:append_text(", " .. text) end
    if h.header then
      add_device_header(node, h)
      generated(node, F.iu, h.iu.name)
      add_payload(node, h, record)
    else
      add_broken_header(node, h)
    end
    add_connection(node, record)
    add_links(node, record)
    add_message(node, h, record)
    add_notes(node, record)
  end

  -- ABTS and the like of a FC-VI Exchange.
  function dissect.link_service(pinfo, tree, record)
    local exchange = record.exchange
    local what = exchange.words and exchange.words:match("^[^,]*")
    local text = record.link .. " of " .. exchange.iu.name .. (what and " " .. what or "")
    if record.link == "ABTS" then pinfo.cols.info = text end
    local node = tree:add(fcvi, text):set_generated()
    if node then generated(node, F.aborts, record.aborts) end
  end

  -- ---- FARP, and the name server's requests about IP addresses
  local function farp(h, pinfo, tree)
    local message = wire.messages.farp
    if h.captured < message.size then return end
    local node = tree:add(F.farp, h.tvb(h.at, message.size))
    add_items(node, h.tvb, h.at, message.fields)
    for _, item in ipairs(message.fields) do
      if item.name == "match_code_points" then
        local range = h.tvb(h.at + item.offset, item.bytes)
        for _, name in ipairs({"port_name", "node_name", "ip_address"}) do node:add(F["farp.match." .. name], range) end
      elseif item.name == "responder_action" then
        local range = h.tvb(h.at + item.offset, item.bytes)
        for _, name in ipairs({"login", "reply"}) do node:add(F["farp.action." .. name], range) end
      elseif item.name == "requesting_ip" then
        h.asks = words.host(h.tvb:raw(h.at + item.offset, item.bytes))
      elseif item.name == "responding_ip" then
        h.asked = words.host(h.tvb:raw(h.at + item.offset, item.bytes))
      end
    end
    pinfo.cols.info:append((" %s asked by %s"):format(h.asked, h.asks))
  end

  local function name_server(h, pinfo, tree, message, filter)
    if h.captured < message.size then return end
    local node = tree:add(F[filter], h.tvb(h.at, message.size))
    for _, item in ipairs(message.fields) do
      if item.name ~= "preamble" then  -- Wireshark's own
        node:add(item.field, h.tvb(h.at + item.offset, item.bytes))
        if item.kind == "ip" then
          pinfo.cols.info:append(" " .. words.host(h.tvb:raw(h.at + item.offset, item.bytes)))
        end
      end
    end
  end

  function dissect.others(h, pinfo, tree)
    if h.type == 0x01 and h.r_ctl == 0x22 and h.captured > 0 then
      local command = h.tvb(h.at, 1):uint()
      if command == wire.farp_request or command == wire.farp_reply then farp(h, pinfo, tree) end
    elseif h.type == 0x20 and h.r_ctl == 0x02 and h.captured >= 16 then
      local command = h.tvb(h.at + 8, 2):uint()
      if command == wire.ripp_id then name_server(h, pinfo, tree, wire.messages.ripp_id, "ripp_id") end
      if command == wire.gid_ipp then name_server(h, pinfo, tree, wire.messages.gid_ipp, "gid_ipp") end
    end
  end
end

-- ---- the tree and the columns ------------------------------------------------------------------------------------------
local dissect = {}

do
  local band = bit32.band

  -- The fields that somebody asked for (-Y, -e, a column), where a tree is made but not shown: no others are added, which would
  -- take most of the time. nil: all.
  local asked
  local function wanted(field) return not asked or asked[field] end

  local function put(tree, field, tvb, at, bytes)
    if asked and not asked[field] then return tree end
    return tree:add(field, tvb(at, bytes))
  end

  -- What is not on the wire: such an item has no bytes.
  local function generated(tree, field, value)
    if asked and not asked[field] then return tree end
    return tree:add(field, value):set_generated()
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
    if not asked then
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
      if not asked then status:append_text(": " .. words.reason(h.fcvi_parameter)) end
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
    if not asked then node:append_text((" %.0f of %s"):format(message.id, words.bytes(flow.total))) end
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
      reassembly.export(h, message, message.data)
    elseif #flow.frames == 1 and h.payload_captured == h.payload and h.payload > 0 then
      put(node, F["message.data"], h.tvb, h.payload_at, h.payload_captured)
      if reassembly.exports() then reassembly.export(h, message, h.tvb:raw(h.payload_at, h.payload_captured)) end
    end
  end

  local function add_notes(tree, record)
    if not record.notes then return end
    for _, found in ipairs(record.notes) do
      generated(tree, F.violation, found.key):add_proto_expert_info(experts[found.key].expert, found.text)
    end
  end

  -- The words of the Info column without the part that a frame is of its message.
  local function words_of(h, record)
    local message = record.message
    if message and not record.answers and message.words then return message.words end
    local fields = words.fields(h, record.payload)
    local text = fields == "" and h.iu.name or h.iu.name .. " " .. fields
    if message and not record.answers and h.payload ~= message.total then message.words = text end
    return text
  end

  -- Numbers as text: the same offsets come again and again, and to format one takes longer than all else here.
  local numerals, numeral_count = {}, 0
  local function numeral(value)
    local text = numerals[value]
    if text then return text end
    if numeral_count == 65536 then numerals, numeral_count = {}, 0 end
    text = ("%.0f"):format(value)
    numerals[value], numeral_count = text, numeral_count + 1
    return text
  end

  -- `size`: " of 64 KiB]"
  local function part(text, size, parameter, payload)
    return text .. " [" .. numeral(parameter) .. "+" .. numeral(payload) .. size
  end
  local function size_text(total) return " of " .. words.bytes(total) .. "]" end

  -- The words of the Info column; of a message of several frames also which part this is.
  local function info(h, record)
    if not h.iu then return "FC-VI" .. (h.opcode and (", opcode %02Xh"):format(h.opcode) or ", truncated") end
    if not h.header then return h.iu.name .. ", truncated" end
    local text, message, flow = words_of(h, record), record.message, record.flow
    if h.iu.payload ~= "message_data" or h.payload == h.last_word then return text end
    if flow then flow.words = text end  -- of the frames that follow
    if not message or h.last_word ~= message.total then return part(text, size_text(h.last_word), h.parameter, h.payload) end
    message.size = message.size or size_text(message.total)
    return part(text, message.size, h.parameter, h.payload)
  end

  -- What is asked for stays the same during a pass of tshark; Wireshark may ask for others with each frame.
  local asked_in
  local has_window = gui_enabled()
  function dissect.reset() asked_in = {} end

  local function what_is_asked(tree)
    if tree.visible or reassembly.exports() then return {all = true} end
    if not tree:referenced(Dissector.get("fcvi")) then return {nothing = true} end
    if has_window then return {all = true} end
    local fields = {}
    for _, field in pairs(F) do fields[field] = tree:referenced(field) end
    return {fields = fields}
  end

  -- Sets `asked`. False: nothing is asked for. `visited`: this is the second pass.
  local function asks(tree, visited)
    local found = asked_in[visited]
    if not found or has_window then
      found = what_is_asked(tree)
      asked_in[visited] = found
    end
    asked = found.fields
    return not found.nothing
  end

  local function add_tree(h, pinfo, tree, record, text)
    local node = tree:add(fcvi, h.tvb(h.at, h.captured))
    if wanted(F["message.data"]) then reassembly.add(h, record) end
    if not asked then node:append_text(", " .. text) end
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

  -- `visited`: that of the frame (pinfo).
  function dissect.iu(h, pinfo, tree, record, visited)
    local text, columns = info(h, record), pinfo.cols
    columns.protocol, columns.info = "FC-VI", text
    if asks(tree, visited) then
      frame.parse_device_header(h)  -- of a frame that continues a message it was not needed before
      add_tree(h, pinfo, tree, record, text)
    elseif record.notes then
      add_notes(tree:add(fcvi, h.tvb(h.at, h.captured)), record)
    end
  end

  -- Whether nobody sees more of a frame than its line.
  function dissect.is_quiet(tree, visited) return not has_window and not visited and not asks(tree, false) end

  -- A frame that is expected next in a message, when it is read for the first time. False: more is to be shown.
  function dissect.next_frame(pinfo, tree, flow, parameter, payload)
    if has_window or asks(tree, false) then return false end
    local columns = pinfo.cols
    columns.protocol, columns.info = "FC-VI", part(flow.words, flow.message.size, parameter, payload)
    return true
  end

  -- ABTS and the like of a FC-VI Exchange.
  function dissect.link_service(pinfo, tree, record)
    local exchange = record.exchange
    local message = exchange.message
    local what = message and ("msg %d"):format(message.id) or exchange.words and exchange.words:match("^[^,]*")
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

-- ---- messages of several frames, put together by relative offset -----------------------------------------------------
local reassembly = {}

do
  local used  -- bytes that are kept

  function reassembly.reset() used = 0 end
  reassembly.reset()

  local function room_for(total)
    return fcvi.prefs.reassemble and total <= fcvi.prefs.message_limit * 1024 and
        used + total <= fcvi.prefs.memory_limit * 1048576
  end

  -- A frame with message data. In the order of the capture: when it is first read in Wireshark, which may show any frame
  -- later; in tshark when its tree is made, so that nothing is kept for nothing.
  function reassembly.add(h, record)
    local message, flow = record.message, record.flow
    if not message or message.view ~= nil and not message.kept or not flow or h.iu.payload ~= "message_data" or
        h.payload == h.last_word then return end
    if message.view == nil then  -- one copy is enough where both ends were captured
      message.view = record.flow
      message.kept = room_for(flow.total) and {}
      if message.kept then used = used + flow.total end
    end
    local kept = message.kept
    if not kept or message.view ~= flow then return end
    if h.payload_captured < h.payload then
      message.kept = false
      return
    end
    kept[h.parameter] = frame.bytes(h.tvb, h.payload_at, h.payload_captured)
    if flow.completed_in ~= record.number then return end
    local list, at = {}, 0
    while kept[at] and #kept[at] > 0 do
      list[#list + 1], at = kept[at], at + #kept[at]
    end
    message.kept = false
    if at == flow.total then message.data = table.concat(list) end
  end

  -- tshark -o fcvi.export:FOLDER. A listener makes tshark read the frames also where it prints none (-q).
  local listener, is_told
  function reassembly.exports() return fcvi.prefs.export ~= "" and not gui_enabled() end
  function reassembly.prepare()
    if reassembly.exports() and not listener then listener = Listener.new("frame") end
  end

  -- The data of a whole message as a file: connection, N_Port_ID of its sender, IU, FCVI_MSG_ID. Once, where both ends were captured.
  function reassembly.export(h, message, data)
    if message.exported or not reassembly.exports() then return end
    message.exported = true
    local path = ("%s/connection-%d-%06X-%s-%.0f.bin"):format(fcvi.prefs.export, message.to.connection.index, h.s_id, h.iu.name, message.id)
    local file, why = io.open(path, "wb")
    local written
    if file then
      written, why = file:write(data)
      file:close()
    end
    if not written and not is_told then
      is_told = true
      io.stderr:write("fcvi.export: ", why or path, "\n")
    end
  end
end

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

  -- A frame with message data, when it is read for the first time. `holder`: the message, for data that is sent by the
  -- request, or what stands for its answer.
  function reassembly.add(h, record)
    local message, flow = record.message, record.flow
    if not flow or h.iu.payload ~= "message_data" or h.payload == h.last_word then return end
    if message.view == nil then  -- one copy is enough where both ends were captured
      message.view = record.views
      message.kept = room_for(flow.total) and {}
      if message.kept then used = used + flow.total end
    end
    local kept = message.kept
    if not kept or message.view ~= record.views then return end
    if h.payload_captured < h.payload then
      message.kept = false
      return
    end
    kept[#kept + 1] = {at = h.parameter, data = h.tvb:raw(h.payload_at, h.payload_captured)}
    if not flow.complete then return end
    table.sort(kept, function(a, b) return a.at < b.at end)
    local list, at = {}, 0
    for _, part in ipairs(kept) do
      if part.at == at then
        list[#list + 1], at = part.data, at + #part.data
      end
    end
    message.kept = false
    if at == flow.total then message.data = table.concat(list) end
  end
end

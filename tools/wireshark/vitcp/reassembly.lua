-- ---- the data of messages ------------------------------------------------------------------------------------------------
local reassembly = {}

do
  local used  -- octets that are kept

  function reassembly.reset() used = 0 end
  reassembly.reset()

  local function give_up(message)
    used = used - (message.kept_bytes or 0)
    message.kept, message.kept_bytes = false, nil
  end

  -- The payload of a segment, in the order of the capture: when it is first read in Wireshark, which may show any frame later; in
  -- tshark when its tree is made, so that nothing is kept for nothing. nil: it was not captured.
  function reassembly.add(record, payload, ends)
    local message = record.message
    if not message or message.kept == false or record.segment == 1 and ends then return end
    local bytes = payload and #payload or 0
    local kept_bytes = (message.kept_bytes or 0) + bytes
    if not payload or not vitcp.prefs.reassemble or message.broken or kept_bytes > vitcp.prefs.message_limit * 1024 or
        used + bytes > vitcp.prefs.memory_limit * 1048576 then
      give_up(message)
      return
    end
    message.kept, message.kept_bytes = message.kept or {}, kept_bytes
    used = used + bytes
    message.kept[#message.kept + 1] = payload
    if not ends then return end
    message.data = table.concat(message.kept)
    message.kept = false
  end
end

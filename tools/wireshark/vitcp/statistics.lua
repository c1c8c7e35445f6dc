-- ---- statistics: counted while the capture is read -------------------------------------------------------------------
local statistics = {}

do
  local add, counts = tallies.add, nil

  function statistics.reset()
    counts = {segments = {}, messages = {}, bytes = {}, setups = {}, errors = {}, times = {}, crcs = {}, violations = {}}
  end
  statistics.reset()

  local function level_of(connection) return connection.level and wire.levels[connection.level] or "unknown level" end

  local crc_states = {right = "right", wrong = "wrong", unchecked = "not checked", none = "segments without CRC"}
  function track.counted(h, record)
    add(counts.segments, h.info.name)
    if h.info.is_connection then add(counts.setups, h.info.name) end
    local state = record.trailer and (record.is_bad and "wrong" or record.calculated and "right" or "unchecked") or "none"
    add(counts.crcs, crc_states[state])
    for _, found in ipairs(record.notes or {}) do add(counts.violations, found.key) end
  end
  -- A message of which the last segment was read.
  function track.ended(message)
    local level = level_of(message.flow.connection)
    local name = level .. ", " .. wire.types[message.type].name
    add(counts.messages, name)
    add(counts.bytes, level, message.type ~= wire.read_request and message.bytes or 0)
    if message.transmit_error then add(counts.errors, "Transmit Error, " .. wire.types[message.type].name) end
  end
  function track.acknowledged(message, record)
    if message.end_time then
      tallies.add_time(counts.times, wire.types[message.type].name .. " to ACK", record.time - message.end_time)
    end
    if message.failure then add(counts.errors, "Remote Error Code, " .. words.error(message.failure)) end
  end
  function track.read_answered(message, record)
    if not message.before_capture then
      tallies.add_time(counts.times, "RDMA Read", record.time - message.time)
    end
    if message.failed then add(counts.errors, "Transmit Error, " .. wire.types[wire.read_response].name) end
  end
  function track.established(_, record)
    if record.request_time then tallies.add_time(counts.times, "set-up", record.time - record.request_time) end
  end
  function track.refused(h) add(counts.errors, h.info.name) end

  local sections = {
    {"Messages by level", function(lines)
      tallies.counts(lines, "Messages by reliability level", counts.messages)
      tallies.counts(lines, "Octets by reliability level, of Sends and RDMA Writes", counts.bytes)
    end},
    {"Segments", function(lines) tallies.counts(lines, "Segments", counts.segments) end},
    {"Set-ups", function(lines) tallies.counts(lines, "Connection set-ups", counts.setups) end},
    {"CRCs", function(lines) tallies.counts(lines, "CRCs", counts.crcs) end},
    {"Error codes", function(lines) tallies.counts(lines, "Refusals and errors", counts.errors) end},
    {"Response times", function(lines)
      tallies.times(lines, "Time from request to response: how often; min, mean, max in s", counts.times)
    end},
    {"Violations", function(lines) tallies.counts(lines, "Violations", counts.violations) end},
  }

  -- tshark -o vitcp.statistics:TRUE
  local listener
  function statistics.prepare()
    if vitcp.prefs.statistics and not listener and not gui_enabled() then
      listener = tallies.print_at_end("VI over TCP", sections)
    end
  end
  tallies.add_menu("VI over TCP", sections)
end

-- ---- statistics: counted while the capture is read -------------------------------------------------------------------
local statistics = {}

do
  local add, counts = tallies.add, nil

  function statistics.reset()
    counts = {segments = {}, messages = {}, bytes = {}, errors = {}, times = {}, crcs = {}, violations = {}}
  end
  statistics.reset()

  -- By numbers while the capture is read: to make names takes longer than to count. `segments` by type, `crcs` by what trailer()
  -- found, `messages` and `bytes` by level (0: unknown), then type.
  function track.counted(h, record)
    local segments, type, notes = counts.segments, h.type, record.notes
    segments[type] = (segments[type] or 0) + 1
    local state = record.trailer and (record.is_bad and "wrong" or record.calculated and "right" or "not checked") or "segments without CRC"
    counts.crcs[state] = (counts.crcs[state] or 0) + 1
    if not notes then return end
    for _, found in ipairs(notes) do add(counts.violations, found.key) end
  end
  -- A message of which the last segment was read.
  function track.ended(message)
    local type, level = message.type, message.flow.connection.level or 0
    local messages = counts.messages[level]
    if not messages then
      messages = {}
      counts.messages[level] = messages
    end
    messages[type] = (messages[type] or 0) + 1
    if type ~= wire.read_request then counts.bytes[level] = (counts.bytes[level] or 0) + (message.bytes or 0) end
    if message.transmit_error then add(counts.errors, "Transmit Error, " .. wire.types[type].name) end
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

  local function level_text(level) return wire.levels[level] or "unknown level" end
  -- Counts by number, with names.
  local function named(list, name_of)
    local made = {}
    for key, value in pairs(list) do made[name_of(key)] = value end
    return made
  end
  local function type_text(type) return wire.types[type].name end
  local function of_connections(wanted)
    local made = {}
    for type, count in pairs(counts.segments) do
      if wire.types[type].is_connection == wanted then made[type] = count end
    end
    return named(made, type_text)
  end

  local sections = {
    {"Messages by level", function(lines)
      local messages = {}
      for level, of_level in pairs(counts.messages) do
        for type, count in pairs(of_level) do messages[level_text(level) .. ", " .. type_text(type)] = count end
      end
      tallies.counts(lines, "Messages by reliability level", messages)
      tallies.counts(lines, "Octets by reliability level, of Sends and RDMA Writes", named(counts.bytes, level_text))
    end},
    {"Segments", function(lines) tallies.counts(lines, "Segments of messages, NOPs", of_connections(false)) end},
    {"Set-ups", function(lines) tallies.counts(lines, "Connection set-ups", of_connections(true)) end},
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

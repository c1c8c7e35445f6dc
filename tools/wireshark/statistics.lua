-- ---- statistics: counted while the capture is read -------------------------------------------------------------------
local statistics = {}

do
  local counts

  function statistics.reset()
    counts = {ius = {}, levels = {}, bytes = {}, retries = 0, setups = 0, reasons = {}, errors = {}, latency = {},
      violations = {}}
  end
  statistics.reset()

  local function add(list, key, by) list[key] = (list[key] or 0) + (by or 1) end

  local function add_latency(name, time)
    local entry = counts.latency[name]
    if not entry then
      entry = {count = 0, sum = 0, least = time, most = time}
      counts.latency[name] = entry
    end
    entry.count, entry.sum = entry.count + 1, entry.sum + time
    entry.least, entry.most = math.min(entry.least, time), math.max(entry.most, time)
  end

  local function level_of(connection)
    if connection.level then return wire.levels[connection.level] or "unknown" end
    return connection.without_response and "unreliable_delivery or reliable_delivery" or "unknown"
  end

  -- A frame that was not seen before.
  function track.counted(h, record)
    if not h.header then return end
    local message = record.message
    if message and message.number == record.number then
      local level = level_of(message.to.connection)
      local of_level = counts.levels[level]
      if not of_level then
        of_level = {}
        counts.levels[level] = of_level
      end
      add(of_level, h.iu.name)
      add(counts.bytes, level, message.total)
    end
    if not message or message.number == record.number or message.answered == record.number then add(counts.ius, h.iu.name) end
    if h.iu.name == "FCVI_CONNECT_RQST" then
      counts.setups = counts.setups + 1
      if words.has(h, "RETRY") then counts.retries = counts.retries + 1 end
    end
  end

  function track.answered(message, record)
    add_latency(message.iu.name, record.time - message.time)
    if message.failed then add(counts.errors, message.iu.name) end
  end
  -- Reason codes of refusals, Disconnects and their answers.
  function track.refused(_, parameter) add(counts.reasons, words.reason(parameter)) end
  function track.ended(_, parameter) add(counts.reasons, words.reason(parameter)) end
  function track.disconnected(_, parameter) add(counts.reasons, words.reason(parameter)) end
  function track.established(_, record)
    add_latency("set-up", record.time - record.request_time)
  end

  function statistics.violations(record)
    for _, found in ipairs(record.notes or {}) do add(counts.violations, found.key) end
  end

  local function section(lines, title, list, show)
    local keys = {}
    for key in pairs(list) do keys[#keys + 1] = key end
    table.sort(keys)
    lines[#lines + 1] = title .. (#keys == 0 and ": none" or "")
    for _, key in ipairs(keys) do lines[#lines + 1] = "  " .. show(key, list[key]) end
  end
  local function count_line(key, value) return ("%-60s %10.0f"):format(key, value) end
  local function latency_line(key, value)
    return ("%-22s %8d  %.9f  %.9f  %.9f"):format(key, value.count, value.least, value.sum / value.count, value.most)
  end

  local sections = {
    {"Messages by level", function(lines)
      local by_level = {}
      for level, of_level in pairs(counts.levels) do
        for name, count in pairs(of_level) do by_level[level .. ", " .. name] = count end
      end
      section(lines, "Messages by reliability level", by_level, count_line)
      section(lines, "Bytes by reliability level", counts.bytes, count_line)
    end},
    {"IUs", function(lines) section(lines, "IUs", counts.ius, count_line) end},
    {"Set-ups and retries", function(lines)
      lines[#lines + 1] = "Connection set-ups"
      lines[#lines + 1] = "  " .. count_line("tries", counts.setups)
      lines[#lines + 1] = "  " .. count_line("of them with RETRY", counts.retries)
    end},
    {"Error codes", function(lines)
      section(lines, "Reason codes", counts.reasons, count_line)
      section(lines, "Messages that were answered with an error", counts.errors, count_line)
    end},
    {"Response times", function(lines)
      section(lines, "Time from request to response: how often; min, mean, max in s", counts.latency, latency_line)
    end},
    {"Violations", function(lines) section(lines, "Violations", counts.violations, count_line) end},
  }

  local function text_of(wanted)
    local lines = {}
    for _, part in ipairs(sections) do
      if not wanted or part[1] == wanted then part[2](lines) end
    end
    return table.concat(lines, "\n") .. "\n"
  end

  -- tshark -o fcvi.statistics:TRUE
  local listener
  function statistics.prepare()
    if not fcvi.prefs.statistics or listener or gui_enabled() then return end
    listener = Listener.new("frame")
    function listener.packet() end
    function listener.draw() print("\nFC-VI\n" .. text_of()) end
  end

  -- Wireshark: Statistics, FC-VI. They count what was read of the file that is open.
  if gui_enabled() then
    for _, part in ipairs(sections) do
      register_menu("FC-VI/" .. part[1], function()
        local window = TextWindow.new("FC-VI: " .. part[1])
        window:set(text_of(part[1]))
      end, MENU_STAT_UNSORTED)
    end
    register_menu("FC-VI/All", function() TextWindow.new("FC-VI"):set(text_of()) end, MENU_STAT_UNSORTED)
  end
end

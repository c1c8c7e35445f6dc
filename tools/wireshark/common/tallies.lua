-- ---- statistics: tables of counts and times, for tshark's output and Wireshark's menu ----------------------------------
local tallies = {}

do
  function tallies.add(list, key, by) list[key] = (list[key] or 0) + (by or 1) end

  function tallies.add_time(list, name, time)
    local entry = list[name]
    if not entry then
      entry = {count = 0, sum = 0, least = time, most = time}
      list[name] = entry
    end
    entry.count, entry.sum = entry.count + 1, entry.sum + time
    entry.least, entry.most = math.min(entry.least, time), math.max(entry.most, time)
  end

  local function count_line(key, value) return ("%-60s %10.0f"):format(key, value) end
  local function time_line(key, value)
    return ("%-22s %8d  %.9f  %.9f  %.9f"):format(key, value.count, value.least, value.sum / value.count, value.most)
  end

  local function section(lines, title, list, show)
    local keys = {}
    for key in pairs(list) do keys[#keys + 1] = key end
    table.sort(keys)
    lines[#lines + 1] = title .. (#keys == 0 and ": none" or "")
    for _, key in ipairs(keys) do lines[#lines + 1] = "  " .. show(key, list[key]) end
  end
  function tallies.counts(lines, title, list) section(lines, title, list, count_line) end
  function tallies.times(lines, title, list) section(lines, title, list, time_line) end

  local function text_of(sections, wanted)
    local lines = {}
    for _, part in ipairs(sections) do
      if not wanted or part[1] == wanted then part[2](lines) end
    end
    return table.concat(lines, "\n") .. "\n"
  end

  -- Of Wireshark: Statistics, `title`. `sections`: pairs of a name and a function that appends lines to a list.
  function tallies.add_menu(title, sections)
    if not gui_enabled() then return end
    local function show(name, window_title)
      local window = TextWindow.new(window_title)
      window:set(text_of(sections, name))
    end
    for _, part in ipairs(sections) do
      register_menu(title .. "/" .. part[1], function() show(part[1], title .. ": " .. part[1]) end, MENU_STAT_UNSORTED)
    end
    register_menu(title .. "/All", function() show(nil, title) end, MENU_STAT_UNSORTED)
  end

  -- Of tshark: printed when all frames are read.
  function tallies.print_at_end(title, sections)
    local listener = Listener.new("frame")
    function listener.packet() end
    function listener.draw() print("\n" .. title .. "\n" .. text_of(sections)) end
    return listener
  end
end

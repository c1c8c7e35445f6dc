-- ---- where frames come from --------------------------------------------------------------------------------------------
-- FC-VI needs the frame header (addresses, F_CTL, SEQ_CNT, relative offset), and each frame of a Sequence has its own
-- Device_Header. Wireshark's dissector for Fibre Channel hands on neither the header nor, with fc.reassemble, the frames
-- in the middle of a Sequence. So the plugin stands in front of it: FCoE and both link types come here, go to
-- Wireshark's own dissector first, and are then read once more.
do
  local current  -- the frame that is being dissected, for the payload that Wireshark's dissector hands on

  local view_of = {[0] = "s", [1] = "r"}

  local function fc_frame(tvb, pinfo, tree, h, is_bad)
    local number = pinfo.number
    if h.type == wire.type and bit32.band(h.r_ctl, 0xF0) == 0 then
      frame.parse_device_header(h)
      local record = track.record(number)
      if not record then
        record = is_bad and {number = number, time = pinfo.rel_ts, views = "u"} or
            track.read(h, number, pinfo.rel_ts, view_of[pinfo.p2p_dir] or "u")
        if record.message then reassembly.add(h, record) end
        statistics.violations(record)
      end
      dissect.iu(h, pinfo, tree, record)
      return
    end
    local record = track.record(number)
    if not record and not pinfo.visited and not is_bad then record = track.read_other(h, number) end
    if record and record.aborts then dissect.link_service(pinfo, tree, record) end
    dissect.others(h, pinfo, tree)
  end

  -- `original`: Wireshark's dissector; `before`, `behind`: bytes around the frame.
  local function stand_in(original, before, behind, is_bad)
    return function(tvb, pinfo, tree)
      local length = tvb:reported_len() - before - behind
      local h = length >= 0 and tvb:len() > before and frame.parse(tvb, before, length) or nil
      local outer = current
      current = h
      local good, result = pcall(original.call, original, tvb, pinfo, tree)
      current = outer
      if h then fc_frame(tvb, pinfo, tree, h, is_bad(tvb)) end
      if not good and not tostring(result):find("Malformed", 1, true) then error(result, 0) end
      return good and result or tvb:len()
    end
  end

  -- EOF codes of FCoE and ordered sets that mark a frame as invalid: no port takes it.
  local invalid_eof = {[0x49] = true, [0x4E] = true, [0x4F] = true, [0x50] = true}
  local fcoe_header, fcoe_trailer = 14, 8
  local function is_bad_fcoe(tvb)
    local length = tvb:reported_len()
    return length == tvb:len() and length >= fcoe_header + fcoe_trailer and
        invalid_eof[tvb(length - 4, 1):uint()] == true
  end
  local function never() return false end

  -- Each stand-in is a protocol of its own without fields: Wireshark calls dissectors by protocol.
  local function put_in_front(table_name, pattern, name, before, behind, is_bad)
    local dissectors = DissectorTable.get(table_name)
    local original = dissectors and dissectors:get_dissector(pattern)
    if not original then return end
    local proto = Proto("fcvi_" .. name, "FC-VI over " .. name)
    proto.dissector = stand_in(original, before, behind, is_bad)
    dissectors:add(pattern, proto)
  end

  put_in_front("ethertype", 0x8906, "fcoe", fcoe_header, fcoe_trailer, is_bad_fcoe)
  put_in_front("wtap_encap", 121, "fc", 0, 0, never)   -- link type 224
  put_in_front("wtap_encap", 122, "fcsof", 4, 8, never)  -- link type 225: delimiters and CRC

  -- The payload of frames whose protocol Wireshark does not know. Of FC-VI it was or will be read above; where frames
  -- come another way (FCIP, iFCP) there is no stand-in, and only the data goes on.
  local data = Dissector.get("data")
  function fcvi.dissector(tvb, pinfo, tree)
    if current and current.type == wire.type and bit32.band(current.r_ctl, 0xF0) == 0 then return tvb:len() end
    return data:call(tvb, pinfo, tree)
  end
  DissectorTable.get("fc.ftype"):add(0, fcvi)

  function fcvi.init()
    track.reset()
    reassembly.reset()
    statistics.reset()
  end
  function fcvi.prefs_changed() statistics.prepare() end
end

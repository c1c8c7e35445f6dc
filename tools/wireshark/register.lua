-- ---- where frames come from --------------------------------------------------------------------------------------------
-- FC-VI needs the frame header (addresses, F_CTL, SEQ_CNT, relative offset), and each frame of a Sequence has its own
-- Device_Header. Wireshark's dissector for Fibre Channel hands on neither the header nor, with fc.reassemble, the frames
-- in the middle of a Sequence. So the plugin stands in front of it: FCoE and both link types come here, go to
-- Wireshark's own dissector first, and are then read once more.
-- The tables of a capture live as long as it is open: to walk through them often finds nothing.
collectgarbage("setpause", 1000)

do
  local band, pcall = bit32.band, pcall
  local is_fc_vi  -- the frame that is being dissected, for the payload that Wireshark's dissector hands on
  local fc_reassembles  -- the preference; Wireshark calls init() after a change
  local parsed = false  -- whether another frame was parsed meanwhile

  local has_window = gui_enabled()
  local view_of = {[0] = "s", [1] = "r"}

  -- Whether a CRC is right and what comments say, Wireshark's own items tell; no API does. Bad CRCs and comments raise
  -- expert items: nearly all frames have none. In the first of two passes of tshark (-2) without a filter there are no items.
  local any_item, any_expert, drop_count, comments = Field.new("frame"), Field.new("_ws.expert"),
      Field.new("frame.drop_count"), Field.new("frame.comment")
  local bad_fcoe_crc, bad_fc_crc = Field.new("fcoe.crc.bad"), Field.new("fc.crc.bad")
  local has_items
  local counts  -- the preference for statistics

  -- As tools/fcvi_sim/capture/comment.cpp reads them. Whether the frame was lost; whether others are missing before it.
  local function told_by(comment)
    local gap = comment:find("^[^;]*frames are missing before this one") ~= nil
    if gap then comment = comment:match("^[^;]*; (.*)$") or "" end
    local word = comment:gsub("^fault: ", ""):match("^(%a+)%f[ :,%z]")
    return word == "lost" or word == "discarded", gap
  end

  -- When a frame is read for the first time: is it invalid, was it lost. `is_bad` says so of the bytes alone.
  local function fate_of(tvb, is_bad, reported, captured)
    if has_items == nil then has_items = any_item() ~= nil end
    if not has_items then return is_bad(tvb, true, reported, captured), false end
    local lost, gap, bad = false, false, false
    local dropped = drop_count()
    if dropped then gap = tostring(dropped.value) ~= "0" end
    if any_expert() then
      bad = bad_fcoe_crc() ~= nil or bad_fc_crc() ~= nil
      for _, comment in ipairs({comments()}) do
        local lost_here, gap_here = told_by(comment.value)
        lost, gap = lost or lost_here, gap or gap_here
      end
    end
    if gap then track.frames_missing() end
    return bad or is_bad(tvb, false, reported, captured), lost
  end

  -- Whether nothing is told of a frame, and its EOF is that of a valid one. False where that is not known.
  local function is_clean(tvb, is_bad, reported, captured)
    return has_items and not drop_count() and not any_expert() and not is_bad(tvb, false, reported, captured)
  end

  local function fc_frame(pinfo, tree, h, is_bad, tvb, reported, captured)
    local number = pinfo.number
    if is_fc_vi then
      local record = track.record(number)
      if not record then
        local bad, lost = fate_of(tvb, is_bad, reported, captured)
        if lost then
          record = track.read_lost(h, number, pinfo.rel_ts, bad)
        elseif bad then
          frame.parse_device_header(h)
          record = track.ignore(number, pinfo.rel_ts)
        else
          record = track.read(h, number, pinfo.rel_ts, view_of[pinfo.p2p_dir] or "u")
        end
        if record.notes then statistics.violations(record) end
      else
        frame.parse_device_header(h)
        record.time = record.time or pinfo.rel_ts
      end
      local visited = pinfo.visited
      -- Statistics count each frame.
      if not counts and dissect.is_quiet(tree, visited) then track.learn_short(h, record, view_of[pinfo.p2p_dir] or "u") end
      if has_window and not visited and record.message then reassembly.add(h, record) end
      dissect.iu(h, pinfo, tree, record, visited)
      return
    end
    local record = track.record(number)
    if not record and not pinfo.visited then
      local bad, lost = fate_of(tvb, is_bad, reported, captured)
      if not bad then record = (lost and track.read_link_service or track.read_other)(h, number, view_of[pinfo.p2p_dir] or "u") end
    end
    if record and record.aborts then dissect.link_service(pinfo, tree, record) end
    dissect.others(h, pinfo, tree)
  end

  local headers, least = frame.header_bytes + wire.messages.device_header.size, frame.header_bytes + 16
  -- Whether it is, and is shown by that.
  local function next_frame(pinfo, tree, flow, raw, number, length)
    local payload = length - headers
    local parameter = payload > 0 and track.read_next(flow, raw, number, payload)
    return parameter and dissect.next_frame(pinfo, tree, flow, parameter, payload)
  end

  -- Who gets the payload: fcvi.dissector, or, of short messages of which only the line is seen, Wireshark's own dissector of data.
  -- That does what fcvi.dissector does with all but FC-VI's, and to call into Lua takes longer.
  local types, data = DissectorTable.get("fc.ftype"), Dissector.get("data")
  local goes_to, shows_data = fcvi, nil
  local function hand_payload(receiver)
    if receiver == goes_to then return end
    goes_to = receiver
    types:add(0, receiver)
  end

  -- Wireshark would put the frames of a FC-VI Sequence together with their Device_Headers, and take the SEQ_CNTs of the
  -- next Sequence of the Exchange, which go on, for an overlap. So it does not for FC-VI's frames, whatever the preference.
  -- An exception at bytes that a capture does not have ends no call of Lua: after a hundred of them Lua calls nothing more. At
  -- the end of a Tvb it is an error, which Dissector:call() hands on. So Wireshark gets a cut frame as all that there is, and
  -- without what stands around it. Of a cut frame of FC-VI it reads the header, and the FCoE trailer if it is there.
  local fc_alone = DissectorTable.get("wtap_encap"):get_dissector(wtap.FIBRE_CHANNEL_FC2)
  local function call_cut(call, tvb, pinfo, tree, before, there)
    if there <= 0 then return true, 0 end
    return pcall(call, fc_alone, tvb(before, there):tvb(), pinfo, tree)
  end

  -- Attributes of a frame and methods of a Tvb that are asked of every frame.
  local reported_of, captured_of, number_of, time_of, direction_of, columns_of
  local function find_attributes(tvb, pinfo)
    reported_of, captured_of = tvb.reported_len, tvb.len
    number_of, time_of = frame.getter(pinfo, "number"), frame.getter(pinfo, "rel_ts")
    direction_of, columns_of = frame.getter(pinfo, "p2p_dir"), frame.getter(pinfo, "cols")
  end

  -- A frame that may be of a lane of short messages. What Wireshark's dissector returned; whether the lane took the frame.
  local function short_frame(lane, raw, call, original, is_bad, tvb, pinfo, tree, number, length, captured)
    local outer = is_fc_vi
    is_fc_vi = lane
    if goes_to ~= data then hand_payload(data) end
    local good, result = pcall(call, original, tvb, pinfo, tree)
    is_fc_vi = outer
    if not good then error(result, 0) end
    if drop_count() or any_expert() or is_bad(tvb, false, captured, captured) then return result, false end
    local text = lane.take(lane, raw, number, time_of(pinfo), length)
    if not text then return result, false end
    local columns = columns_of(pinfo)
    columns.protocol, columns.info = "FC-VI", text
    return result, true
  end

  -- `original`: Wireshark's dissector; `before`, `behind`: bytes around the frame. `looks_behind`: it reads those behind, there or not.
  local function stand_in(original, before, behind, is_bad, looks_behind)
    local call = original.call

    local function dissect_frame(flow, raw, tvb, pinfo, tree, length, reported, captured)
      local h = not flow and length > 0 and frame.parse(tvb, before, length, captured - before)
      local outer = is_fc_vi
      is_fc_vi, parsed = flow or h and h.type == wire.type and band(h.r_ctl, 0xF0) == 0, false
      local reassembles = is_fc_vi and fc_reassembles and (flow or h and (h.seq_cnt ~= 0 or not h.ends_sequence))
      if reassembles then set_preference("fc.reassemble", false) end
      if is_fc_vi and goes_to ~= fcvi then hand_payload(fcvi) end
      local good, result
      if captured < reported and (looks_behind or not is_fc_vi) then
        good, result = call_cut(call, tvb, pinfo, tree, before, math.min(captured - before, length))
        result = good and captured or result
      else
        good, result = pcall(call, original, tvb, pinfo, tree)
      end
      if reassembles then set_preference("fc.reassemble", true) end
      local is_shown = flow and is_clean(tvb, is_bad, reported, captured) and next_frame(pinfo, tree, flow, raw, number_of(pinfo), length)
      -- A frame within the frame took its place.
      if not is_shown and (flow or parsed) then h = frame.parse(tvb, before, length, captured - before) end
      if not is_shown and h then fc_frame(pinfo, tree, h, is_bad, tvb, reported, captured) end
      is_fc_vi, parsed = outer, true
      if not good and not tostring(result):find("Malformed", 1, true) then error(result, 0) end
      return good and result or captured
    end

    -- Of a short message or its response.
    local function dissect_short(lane, raw, tvb, pinfo, tree, length, captured)
      local number = number_of(pinfo)
      if shows_data == nil then shows_data = tree:referenced(data) end
      if shows_data or not has_items or lane.records[number] then
        return dissect_frame(nil, nil, tvb, pinfo, tree, length, captured, captured)
      end
      local result, is_taken = short_frame(lane, raw, call, original, is_bad, tvb, pinfo, tree, number, length, captured)
      if is_taken then return result end
      local outer = is_fc_vi
      is_fc_vi = true
      fc_frame(pinfo, tree, frame.parse(tvb, before, length, captured - before), is_bad, tvb, captured, captured)
      is_fc_vi = outer
      return result
    end

    return function(tvb, pinfo, tree)
      if not reported_of then find_attributes(tvb, pinfo) end
      local reported, captured = reported_of(tvb), captured_of(tvb)
      local length = reported - before - behind
      local flow, raw
      if captured == reported and length >= least and track.expects() then
        local there = length + behind  -- more than 40 bytes, of which Lua would keep one of each, if there are
        raw = frame.bytes(tvb, before, there < headers and there or headers)
        flow = track.expected(raw, view_of[direction_of(pinfo)] or "u")
        if flow and flow.is_short then return dissect_short(flow, raw, tvb, pinfo, tree, length, captured) end
      end
      return dissect_frame(flow, raw, tvb, pinfo, tree, length, reported, captured)
    end
  end

  -- EOF codes of FCoE and ordered sets that mark a frame as invalid: no port takes it.
  local invalid_eof = {["\x49"] = true, ["\x4E"] = true, ["\x4F"] = true, ["\x50"] = true}
  local fcoe_header, delimiter, fcoe_trailer = 14, 4, 8
  -- Behind the frame stand CRC and EOF.
  local function has_bad_crc(tvb, before)
    local behind = tvb:len() - 8
    return crc.of(frame.bytes(tvb, before, behind - before)) ~= Struct.unpack("<I4", frame.bytes(tvb, behind, 4))
  end
  -- `with_crc`: look at it, too. `length`: bytes on the wire.
  local function is_bad_fcoe(tvb, with_crc, length, captured)
    if length ~= captured or length < fcoe_header + fcoe_trailer then return false end
    return invalid_eof[frame.bytes(tvb, length - 4, 1)] == true or with_crc and has_bad_crc(tvb, fcoe_header)
  end
  -- EOFni, EOFdti and EOFrti differ from the valid ones in the second byte, EOFa is a set of its own.
  local function is_bad_fcsof(tvb, with_crc, length, captured)
    if length ~= captured or length < 12 then return false end
    local eof = frame.bytes(tvb, length - 4, 4)
    local second = eof:byte(2)
    return second == 0x8A or second == 0xAA or eof:sub(3) == "\xF5\xF5" or with_crc and has_bad_crc(tvb, delimiter)
  end
  local function never() return false end

  -- Each stand-in is a protocol of its own without fields: Wireshark calls dissectors by protocol, and names in Expert
  -- Information the one that it called.
  local function put_in_front(table_name, pattern, name, place, before, behind, is_bad, looks_behind)
    local dissectors = DissectorTable.get(table_name)
    local original = dissectors and dissectors:get_dissector(pattern)
    if not original then return end
    local proto = Proto(name, "FC-VI over " .. place)
    proto.dissector = stand_in(original, before, behind, is_bad, looks_behind)
    dissectors:add(pattern, proto)
  end

  put_in_front("ethertype", 0x8906, "FC-VI", "FCoE", fcoe_header, fcoe_trailer, is_bad_fcoe)
  -- Frames may be missing before one of FIP.
  do
    local dissectors = DissectorTable.get("ethertype")
    local original = dissectors and dissectors:get_dissector(0x8914)
    local proto = original and Proto("fcvi_fip", "FC-VI beside FIP")
    if proto then
      function proto.dissector(tvb, pinfo, tree)
        local captured = tvb:len()
        local is_cut = captured < tvb:reported_len()
        local good, result = true, 0
        if captured > 0 then good, result = pcall(original.call, original, is_cut and tvb(0, captured):tvb() or tvb, pinfo, tree) end
        if not pinfo.visited then fate_of(tvb, never) end
        if not good and not is_cut then error(result, 0) end
        return good and result or captured
      end
      dissectors:add(0x8914, proto)
    end
  end
  put_in_front("wtap_encap", wtap.FIBRE_CHANNEL_FC2, "FC-VI-FC", "Fibre Channel", 0, 0, never)  -- link type 224
  put_in_front("wtap_encap", wtap.FIBRE_CHANNEL_FC2_WITH_FRAME_DELIMS, "FC-VI-FCSOF", "Fibre Channel with delimiters", 4, 8, is_bad_fcsof, true)  -- 225: delimiters and CRC

  -- The payload of frames whose protocol Wireshark does not know. Of FC-VI it was or will be read above; where frames
  -- come another way (FCIP, iFCP) there is no stand-in, and only the data goes on.
  function fcvi.dissector(tvb, pinfo, tree)
    if is_fc_vi then return end  -- all of it
    return data:call(tvb, pinfo, tree)
  end
  types:add(0, fcvi)

  function fcvi.init()
    track.reset()
    reassembly.reset()
    dissect.reset()
    fc_reassembles = get_preference("fc.reassemble")
    has_items, shows_data = nil, nil
    counts = fcvi.prefs.statistics
    statistics.reset()
  end
  function fcvi.prefs_changed()
    counts = fcvi.prefs.statistics
    statistics.prepare()
    reassembly.prepare()
  end
end

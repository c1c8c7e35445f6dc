-- A stand-in for what Wireshark offers to plugins, for interpreters of other versions of Lua than tshark here has.
-- usage: lua stand_in.lua PLUGIN CASES: CASES returns {name, wanted, frames = {{bytes, direction, seconds, crc_error = boolean,
-- comment = string, missing = number}...}} for each conversation, frames of link type 224. $FCVI_FLOATS: numbers are of the kind "float", as
-- a C function may hand them over. $FCVI_UNSEEN: no tree is shown or asked for.
local plugin, cases = arg[1], dofile(arg[2])
local floats = os.getenv("FCVI_FLOATS")
local function number(value) return floats and math.type(value) == "integer" and value + 0.0 or value end

Struct = {unpack = function(format, bytes, at)
  local values = table.pack(string.unpack(format, bytes, at or 1))
  for i = 1, values.n do values[i] = number(values[i]) end
  return table.unpack(values, 1, values.n)
end}
base = setmetatable({}, {__index = function(_, name) return name end})
frametype, expert = base, {group = base, severity = base}
ProtoField = setmetatable({}, {__index = function(_, kind) return function() return kind end end})
ProtoExpert = {new = function(filter) return filter end}
Pref = {bool = function(_, value) return value end, uint = function(_, value) return value end, string = function(_, value) return value end}
wtap = {FIBRE_CHANNEL_FC2 = 121, FIBRE_CHANNEL_FC2_WITH_FRAME_DELIMS = 122}
Dissector = {get = function() return {} end}
-- The items that Wireshark makes of a frame.
local current
local fields = {
  ["frame"] = function() return #current[1] end,
  ["_ws.expert"] = function() return (current.crc_error or current.comment ~= "") or nil end,
  ["frame.drop_count"] = function() return current.missing > 0 and current.missing or nil end,
  ["frame.comment"] = function() return current.comment ~= "" and current.comment or nil end,
  ["fcoe.crc.bad"] = function() return nil end,
  ["fc.crc.bad"] = function() return current.crc_error or nil end,
}
Field = {new = function(name)
  return function()
    local value = fields[name]()
    if value == nil then return end
    return {value = value}
  end
end}
function gui_enabled() return false end
function get_preference() return false end
NSTime = {new = function(seconds, nanoseconds)
  assert(math.tointeger(seconds) and math.tointeger(nanoseconds))
  return {}
end}
UInt64 = {new = function(value) return value end}

local protocols, dissectors = {}, {}
function Proto(name)
  protocols[name] = {prefs = {}}
  return protocols[name]
end
DissectorTable = {get = function(name)
  dissectors[name] = dissectors[name] or {}
  return {
    get_dissector = function() return {call = function() return 0 end} end,
    add = function(_, pattern, protocol) dissectors[name][pattern] = protocol end,
  }
end}

-- Methods are the same for each Tvb, as those of Wireshark are.
local function tvb_len(tvb) return number(#tvb.bytes) end
local function tvb_raw(tvb, at, length) return tvb.part(at, length) end
local function new_tvb(bytes)
  local function part(at, length)
    at = math.tointeger(at or 0)
    length = math.tointeger(length or #bytes - at)
    assert(at >= 0 and at + length <= #bytes, "beyond the end")
    return bytes:sub(at + 1, at + length)
  end
  local tvb = {part = part, bytes = bytes, len = tvb_len, reported_len = tvb_len, raw = tvb_raw}
  return setmetatable(tvb, {__call = function(_, at, length)
    local range = part(at, length)
    return {uint = function() return number((string.unpack(">I" .. #range, range))) end, tvb = function() return new_tvb(range) end}
  end})
end
ByteArray = {new = function(bytes) return {tvb = function() return new_tvb(bytes) end} end}

dofile(plugin)
local failures = 0
for _, case in ipairs(cases) do
  protocols.fcvi.init()
  local seen, tree = {}, {visible = os.getenv("FCVI_UNSEEN") == nil}
  function tree:add() return tree end
  function tree:referenced() return tree.visible end
  tree.set_generated, tree.append_text = tree.add, tree.add
  function tree:add_proto_expert_info(filter)
    seen[filter:gsub("fcvi%.", "")] = true
    return tree
  end
  for i, frame in ipairs(case.frames) do
    current = frame
    local pinfo = {number = i, p2p_dir = frame[2], rel_ts = frame[3], visited = false,
      cols = {info = {append = function() end}}}
    local good, problem = pcall(dissectors.wtap_encap[121].dissector, new_tvb(frame[1]), pinfo, tree)
    if not good then
      seen["error"] = true
      print(case.name, i, problem)
    end
    -- A float that was to be a whole number.
    if tostring(pinfo.cols.info):find("%d%.0") then
      seen["float"] = true
      print(case.name, i, pinfo.cols.info)
    end
  end
  local names = {}
  for name in pairs(seen) do names[#names + 1] = name end
  table.sort(names)
  if table.concat(names, ",") ~= case.wanted then
    failures = failures + 1
    print(("%s: expected %s, got %s"):format(case.name, case.wanted, table.concat(names, ",")))
  end
end
print(("%s: %d conversations, %d failures"):format(_VERSION, #cases, failures))
os.exit(failures == 0)

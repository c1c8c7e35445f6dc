-- A stand-in for what Wireshark offers to vitcp.lua, for interpreters of other versions of Lua than tshark here has.
-- usage: lua vitcp_stand_in.lua PLUGIN CASES: CASES returns {name, wanted, calls = {{octets, client = boolean, seq = number}...}} for each
-- connection; what follows a call that has to wait is handed over with it. $FCVI_FLOATS: numbers are of the kind "float", as a C
-- function may hand them over. $FCVI_UNSEEN: no tree is shown or asked for.
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
local function pref(_, value) return value end
Pref = {bool = pref, uint = pref, range = pref}
Dissector = {get = function() return {} end}
DissectorTable = {get = function() return {add = function() end, remove = function() end} end}
function gui_enabled() return false end
function get_preference() return true end
NSTime = {new = function(seconds, nanoseconds)
  assert(math.tointeger(seconds) and math.tointeger(nanoseconds))
  return {}
end}

local current  -- the TCP header
Field = {new = function(name)
  return function()
    local value = current[name]
    if value == nil then return end
    return {value = number(value)}
  end
end}

local protocol = {prefs = {}}
function protocol.register_heuristic() end
function Proto() return protocol end

local function new_tvb(bytes, offset)
  local function part(at, length)
    at = math.tointeger(at or 0)
    length = math.tointeger(length or #bytes - at)
    assert(at >= 0 and length >= 0 and at + length <= #bytes, "beyond the end")
    return bytes:sub(at + 1, at + length)
  end
  local tvb = {len = function() return number(#bytes) end, reported_len = function() return number(#bytes) end,
    offset = function() return number(offset) end, raw = function(_, at, length) return part(at, length) end}
  return setmetatable(tvb, {__call = function(_, at, length) return part(at, length) end})
end
ByteArray = {new = function(bytes) return {tvb = function() return new_tvb(bytes, 0) end} end}

dofile(plugin)
local failures, frames = 0, 0
local function run(case, seen)
  local tree, info = {visible = os.getenv("FCVI_UNSEEN") == nil}, {}
  function tree:add() return tree end
  function tree:referenced() return tree.visible end
  tree.set_generated, tree.append_text, tree.add_le = function() return tree end, function() return tree end, tree.add
  function tree:add_proto_expert_info(filter)
    seen[filter:gsub("vitcp%.", "")] = true
    return tree
  end
  function info:append(text) self.text = (self.text or "") .. text end
  function info:fence() end
  local columns = setmetatable({}, {__index = {info = info}, __newindex = function(_, key, value)
    if key == "info" then info.text = value end
  end})
  for _, call in ipairs(case.calls) do
    frames = frames + 1
    current = {["tcp.stream"] = case.stream, ["tcp.seq"] = call.seq, ["tcp.len"] = #call[1], ["tcp.completeness"] = 7,
      ["tcp.flags.urg"] = false, ["tcp.ack"] = call.ack}
    local pinfo = {number = number(frames), rel_ts = frames / 1e6, visited = false, can_desegment = number(2), cols = columns,
      src = call.client and "10.0.0.1" or "10.0.0.2", dst = call.client and "10.0.0.2" or "10.0.0.1",
      src_port = number(call.client and 40000 or 8474), dst_port = number(call.client and 8474 or 40000)}
    local good, problem = pcall(protocol.dissector, new_tvb(call[1], 54), pinfo, tree)
    if not good then
      seen.error = true
      print(case.name, frames, problem)
    end
    -- A float that was to be a whole number.
    if tostring(info.text):find("%d%.0") then
      seen.float = true
      print(case.name, frames, info.text)
    end
  end
end

protocol.init()
for at, case in ipairs(cases) do
  local seen, names = {}, {}
  case.stream = at
  run(case, seen)
  for name in pairs(seen) do names[#names + 1] = name end
  table.sort(names)
  if table.concat(names, ",") ~= case.wanted then
    failures = failures + 1
    print(("%s: expected %s, got %s"):format(case.name, case.wanted, table.concat(names, ",")))
  end
end
print(("%s: %d connections, %d failures"):format(_VERSION, #cases, failures))
os.exit(failures == 0)

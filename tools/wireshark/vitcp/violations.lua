-- ---- expert items: what a receiver can see to be wrong ---------------------------------------------------------------
-- Each has a filter of its own: vitcp.message_gap and so on; `vitcp.violation` finds all of them.
local experts = {}

do
  local groups = {protocol = expert.group.PROTOCOL, malformed = expert.group.MALFORMED, sequence = expert.group.SEQUENCE}
  local severities = {error = expert.severity.ERROR, warning = expert.severity.WARN}
  local made = {}
  for _, row in ipairs(wire.violations) do
    local made_expert = ProtoExpert.new("vitcp." .. row.name, row.text, groups[row.group], severities[row.severity])
    experts[row.name] = {expert = made_expert, text = row.text}
    made[#made + 1] = made_expert
  end
  vitcp.experts = made
end

-- A violation found in the segment of `record`.
local function note(record, key, text)
  assert(experts[key], key)
  local notes = record.notes
  if not notes then
    notes = {}
    record.notes = notes
  end
  notes[#notes + 1] = {key = key, text = text and experts[key].text .. ": " .. text or experts[key].text}
end

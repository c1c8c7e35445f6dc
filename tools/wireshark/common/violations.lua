-- ---- expert items: what a receiver can see to be wrong ---------------------------------------------------------------
-- Each has a filter of its own, PROTOCOL.NAME; `PROTOCOL.violation` finds all of them. Their names and texts are those of
-- tools/violations. Returns what is known of each by its name, and note(record, name, text), for a violation found in the frame or
-- segment of `record`.
local function violations_of(protocol, prefix)
  local experts, made = {}, {}
  local groups = {protocol = expert.group.PROTOCOL, malformed = expert.group.MALFORMED, sequence = expert.group.SEQUENCE}
  local severities = {error = expert.severity.ERROR, warning = expert.severity.WARN}
  for _, row in ipairs(wire.violations) do
    local made_expert = ProtoExpert.new(prefix .. "." .. row.name, row.text, groups[row.group], severities[row.severity])
    experts[row.name] = {expert = made_expert, text = row.text}
    made[#made + 1] = made_expert
  end
  protocol.experts = made

  local function note(record, key, text)
    assert(experts[key], key)
    local notes = record.notes
    if not notes then
      notes = {}
      record.notes = notes
    end
    notes[#notes + 1] = {key = key, text = text and experts[key].text .. ": " .. text or experts[key].text}
  end
  return experts, note
end

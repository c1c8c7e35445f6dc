-- ---- fields: what can be filtered on -----------------------------------------------------------------------------------
local ift = Proto("ift", "iWARP Framing for TCP")
local F
local notes = {}

do
  local list, declare, declare_all
  F, list, declare, declare_all = layouts.new("ift", {"size", "version", "interval"})
  declare("adaption", ProtoField.none("ift.adaption", "Adaption indication"))
  declare_all("adaption", wire.messages.adaption.fields)
  declare("adaption.crc", ProtoField.uint32("ift.adaption.crc", "CRC", base.HEX))
  declare_all("", wire.messages.frame.fields)
  declare("ddp_header", ProtoField.bytes("ift.ddp_header", "DDP header"))
  declare("header_crc", ProtoField.uint32("ift.header_crc", "Header CRC", base.HEX))
  declare("payload", ProtoField.bytes("ift.payload", "DDP payload"))
  declare("payload_crc", ProtoField.uint32("ift.payload_crc", "Payload CRC", base.HEX))
  -- What is not on the wire, but follows from it.
  declare("crc.status", ProtoField.string("ift.crc.status", "CRC status"))
  declare("crc.calculated", ProtoField.uint32("ift.crc.calculated", "Calculated CRC", base.HEX))
  ift.fields = list

  local experts = {}
  for _, row in ipairs({{"bad_crc", "Bad CRC32C", expert.group.CHECKSUM, expert.severity.ERROR},
                        {"wrong_vtag", "The VTag is not that of the receiver's indication", expert.group.PROTOCOL, expert.severity.WARN},
                        {"wrong_size", "header_size is neither that of a Tagged nor of an Untagged header", expert.group.MALFORMED, expert.severity.ERROR}}) do
    notes[row[1]] = ProtoExpert.new("ift." .. row[1], row[2], row[3], row[4])
    experts[#experts + 1] = notes[row[1]]
  end
  ift.experts = experts
end

ift.prefs.check_crc = Pref.bool("Check CRCs", true, "Takes most of the time")
ift.prefs.header_crc = Pref.bool("Header CRC", true, "Of frames whose sender's indication was not captured")
ift.prefs.payload_crc = Pref.bool("Payload CRC", true, "Likewise")

-- ---- fields: what can be filtered on -----------------------------------------------------------------------------------
local vitcp = Proto("vitcp", "VI over TCP")
local F

do
  local list, declare, declare_all
  F, list, declare, declare_all = layouts.new("vitcp", {"length", "size", "offset", "window", "posted"})

  declare_all("", wire.messages.header.fields)
  declare("rdma", ProtoField.none("vitcp.rdma", "RDMA header"))
  declare_all("rdma", wire.messages.rdma.fields)
  declare("ce", ProtoField.none("vitcp.ce", "Connection establishment header"))
  declare_all("ce", wire.messages.ce.fields)
  declare("option", ProtoField.none("vitcp.option", "Option"))
  declare("option.type", ProtoField.uint16("vitcp.option.type", "type", base.DEC, wire.options))
  declare("option.length", ProtoField.uint16("vitcp.option.length", "length", base.DEC))
  declare("option.data", ProtoField.bytes("vitcp.option.data", "data"))
  declare("data", ProtoField.bytes("vitcp.data", "Payload"))
  declare("crc", ProtoField.uint32("vitcp.crc", "CRC", base.HEX))

  -- What is not on the wire, but follows from it.
  declare("segment", ProtoField.string("vitcp.segment", "Segment"))
  declare("continuation", ProtoField.bytes("vitcp.continuation", "Octets of a segment that began before"))
  declare("crc.status", ProtoField.string("vitcp.crc.status", "CRC status"))
  declare("crc.calculated", ProtoField.uint32("vitcp.crc.calculated", "Calculated CRC", base.HEX))
  declare("connection", ProtoField.uint32("vitcp.connection", "Connection", base.DEC))
  declare("connection.calling", ProtoField.string("vitcp.connection.calling", "Calling end"))
  declare("connection.called", ProtoField.string("vitcp.connection.called", "Called end"))
  declare("connection.calling_discriminator", ProtoField.string("vitcp.connection.calling_discriminator", "Calling discriminator"))
  declare("connection.called_discriminator", ProtoField.string("vitcp.connection.called_discriminator", "Called discriminator"))
  declare("connection.level", ProtoField.string("vitcp.connection.level", "Reliability level"))
  declare("connection.mtu", ProtoField.uint32("vitcp.connection.mtu", "MTU Size", base.DEC))
  declare("connection.crc", ProtoField.bool("vitcp.connection.crc", "CRC in each segment"))
  declare("connection.setup", ProtoField.framenum("vitcp.connection.setup", "Set up by"))
  declare("connection.reads", ProtoField.uint32("vitcp.connection.reads", "Open RDMA Reads of the sender", base.DEC))
  declare("connection.read_window", ProtoField.uint32("vitcp.connection.read_window", "RDMA Reads that the sender may have open", base.DEC))
  declare("connection.descriptors",
    ProtoField.uint32("vitcp.connection.descriptors", "Receive descriptors of the other end that are left", base.DEC))
  declare("connection.unacknowledged", ProtoField.uint32("vitcp.connection.unacknowledged", "Messages of the sender without ACK", base.DEC))
  declare("request_in", ProtoField.framenum("vitcp.request_in", "Request in", base.NONE, frametype.REQUEST))
  declare("response_in", ProtoField.framenum("vitcp.response_in", "Response in", base.NONE, frametype.RESPONSE))
  declare("acknowledges", ProtoField.framenum("vitcp.acknowledges", "Acknowledges the message that ends in", base.NONE, frametype.ACK))
  declare("acknowledged_in", ProtoField.framenum("vitcp.acknowledged_in", "Acknowledged in", base.NONE, frametype.ACK))
  declare("time", ProtoField.relative_time("vitcp.time", "Time since the request"))
  declare("message", ProtoField.none("vitcp.message", "Message"))
  declare("message.bytes", ProtoField.uint32("vitcp.message.bytes", "Octets so far", base.DEC))
  declare("message.segments", ProtoField.uint32("vitcp.message.segments", "Segments so far", base.DEC))
  declare("message.frame", ProtoField.framenum("vitcp.message.frame", "Segment in frame"))
  declare("message.complete", ProtoField.bool("vitcp.message.complete", "Complete"))
  declare("message.data", ProtoField.bytes("vitcp.message.data", "Data of the whole message"))
  declare("violation", ProtoField.string("vitcp.violation", "Violation"))
  vitcp.fields = list
end

vitcp.prefs.ports = Pref.range("TCP ports", tostring(wire.default_port), "Where hosts wait for ConnectRequests", 65535)
vitcp.prefs.heuristic = Pref.bool("Look at other ports", true, "Also take connections whose first octets are a whole ConnectRequest")
vitcp.prefs.check_crc = Pref.bool("Check CRCs", true, "Takes most of the time where segments have CRCs")
vitcp.prefs.reassemble = Pref.bool("Reassemble messages", true, "Show the data of a message with its last segment")
vitcp.prefs.message_limit = Pref.uint("Longest message, KiB", 16384, "Longer messages are not reassembled")
vitcp.prefs.memory_limit = Pref.uint("Memory for messages, MiB", 256, "Beyond that no further message is reassembled")
vitcp.prefs.statistics = Pref.bool("Print statistics", false, "For tshark: print the statistics when all frames are read")

local experts, note = violations_of(vitcp, "vitcp")

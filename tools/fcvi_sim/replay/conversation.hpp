// What a capture has of one port: the frames that it sent and received, in their order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/conversation.hpp"
#include "wire/delimiters.hpp"
#include "wire/fc_header.hpp"

namespace sim::replay {

struct CapturedFrame {
  std::uint64_t number = 0;  // in the capture, from 1
  capture::Time at = 0;      // nanoseconds since the first frame of the capture
  bool sent = false;         // by the port; else it received it
  bool on_its_way = false;   // received: it was captured before the port took it in
  bool begins_exchange = false, begins_sequence = false;
  bool first_answer = false;        // of its Exchange: the first frame that the port sent as its responder
  std::vector<std::uint8_t> bytes;  // header, data field, fill bytes
  wire::FcHeader header;
  std::optional<wire::Sof> sof;  // where the capture has it
  std::optional<wire::Eof> eof;  // the same; not of a frame that a fault changed where it was captured
  bool crc_error = false;        // the same
  /// The data field of a message that is complete with this frame; message data: of this frame. Empty: it is a part.
  std::vector<std::uint8_t> message;
  wire::FcHeader message_header;

  [[nodiscard]] bool is_fc_vi() const {
    return header.type == wire::Type::fc_vi && (static_cast<unsigned>(header.r_ctl) & 0xF0) == 0;
  }
  /// Of SCSI, IP or NVMe between ports: no replay plays their users. Any other TYPE may be a damaged one.
  [[nodiscard]] bool is_of_other_fc4() const {
    constexpr wire::Type nvme{0x28};
    const bool known = header.type == wire::Type::fcp || header.type == wire::Type::ip || header.type == nvme;
    return known && (static_cast<unsigned>(header.r_ctl) & 0xF0) == 0 && !wire::is_of_fabric(header.d_id);
  }
  [[nodiscard]] bool by_responder() const { return header.has(wire::f_ctl::exchange_responder); }
  [[nodiscard]] wire::Bytes content() const { return bytes; }
  /// Of this frame, without fill bytes.
  [[nodiscard]] wire::Bytes data_field() const;
};

/// Who is in a capture: by the name of its interface, by the N_Port_IDs that it had, by its Port_Name.
struct CapturedPort {
  std::string name;  // of the interface; empty: it has none of its own
  std::string node;  // as it registered itself (RSNN_NN); may be empty
  std::optional<std::size_t> interface;
  std::vector<wire::FcId> ids;
  std::optional<wire::Wwn> port_name;
  [[nodiscard]] std::string to_string() const;
};

struct Conversation {
  CapturedPort port;
  std::vector<CapturedFrame> frames;
  capture::Time end = 0;  // until then what the port sent would be there, as long as its process is known to have run
};

struct ReadConversation {
  Conversation conversation;
  /// Where the capture tells no directions: frames of it that came again were sent again, not seconds under way.
  std::optional<Conversation> sent_again;
  std::string error;  // what is wrong with the file, or with `port`: then it lists those that there are
};

/// Reads the capture twice; "-" is standard input. `port`: name of an interface or of a node, N_Port_ID ("010200") or
/// Port_Name.
ReadConversation read_conversation(const std::string& path, const std::string& port);

}  // namespace sim::replay

// How an N_Port is set up.
#pragma once
#include <cstdint>
#include <string>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "wire/types.hpp"

namespace fsm {
class RowListener;
}

namespace fc2 {

struct NPortConfig {
  std::string name;                  // in captures and traces
  fsm::RowListener* rows = nullptr;  // hears of each row that fires in the port's machines, and in those of its FC-4s
  wire::Wwn port_name{};
  wire::Wwn node_name{};
  std::uint16_t receive_data_field_bytes = max_data_field_bytes;  // multiple of 4, 256 to 2112
  wire::FcId fixed_id{};  // a fabric's own port with a well-known address: no fabric login
  [[nodiscard]] bool is_fixed() const { return fixed_id != wire::FcId{}; }
  std::uint16_t first_ox_id = 0;  // where OX_IDs start: a driver draws it from the seed
  // What the port guarantees in PLOGI and its accept (FC-FS): of every frame that it sends, of whatever TYPE. It holds
  // here because SequenceSender has no other way. What an FC-4 asks of the other port: Fc4. Off to play a port that
  // guarantees less.
  bool continuously_increasing_seq_cnt = true;
  bool continuously_increasing_relative_offset = true;
  std::uint16_t end_to_end_credit =
      0;                        // class 2: frames that a peer may send before one is acknowledged; 0: class 3 only
  bool ack_0 = false;           // class 2: a whole sequence is acknowledged at once, where the peer does the same
  TimeNs e_d_tov = 2 * second;  // until a fabric login tells others
  TimeNs r_a_tov = 10 * second;
  bool in_order_without_fabric =
      true;                     // what a link without a fabric promises; a fabric tells it in its accept of FLOGI
  bool virtual_n_port = false;  // NPIV: logs in by FDISC, on the link of a port that logged in by FLOGI
  std::uint16_t max_exchanges = 4096;  // open at once, each way: ours cannot keep us from answering the peers'
  // Of link services, CT and connection IUs (message data is never assembled): the longest list that CT's sizes can
  // tell.
  std::size_t max_assembled_iu_bytes = 16 + 4 * 65535;
  std::size_t max_assembled_bytes = 16 << 20;  // of all that peers began and have not ended
  std::size_t max_waiting_frames = 16384;      // to be sent; from there on nothing is taken that asks for an answer
  // Known ones. For a PLOGI from one more the oldest that is not in use makes room; where all are, it is rejected.
  std::size_t max_remote_ports = 65536;
  int login_retries = 3;
  bool log_out_silent_ports = false;  // second-level recovery when two ABTS went unanswered (FC-VI C.3 rule 2 b)
};

}  // namespace fc2

#include "tools/iscsi_warp/initiator.hpp"

#include <algorithm>

namespace iscsi {
namespace {

constexpr std::array<std::uint8_t, 6> isid{0x80, 0, 0, 0, 0, 1};  // T = random: nothing else has a session here

void set_cdb(Pdu& pdu, std::uint8_t operation, std::uint32_t block, std::uint16_t blocks) {
  pdu.header[at::cdb] = operation;
  pdu.set_word(at::cdb + 2, block);
  pdu.set_half(at::cdb + 7, blocks);
}

}  // namespace

// --- logins --------------------------------------------------------------------------------------------------------

void Session::add(std::unique_ptr<Transport> transport) {
  Connection connection{std::move(transport)};
  Pdu login(Opcode::login_request, final_bit | 0x04 | 0x03);  // T, CSG 1: operational negotiation; NSG 3: full feature
  login.header[at::opcode] |= 0x40;                           // immediate
  std::copy(isid.begin(), isid.end(), login.header.begin() + at::isid);
  login.set_half(at::tsih, tsih_);
  login.set_word(at::task_tag, next_tag_++);
  login.set_half(at::cid, static_cast<std::uint16_t>(connections_.size()));
  login.set_word(at::command_sn, command_sn_);
  Keys keys{{"MaxRecvDataSegmentLength", std::to_string(burst_octets)}};
  if (connections_.empty())
    keys.insert({{"InitiatorName", "iqn.2001-02.example:initiator"},
                 {"TargetName", "iqn.2001-02.example:file"},
                 {"SessionType", "Normal"},
                 {"MaxConnections", std::to_string(most_connections)},
                 {"InitialR2T", "Yes"},
                 {"ImmediateData", "Yes"},
                 {"MaxBurstLength", std::to_string(burst_octets)},
                 {"FirstBurstLength", std::to_string(first_burst_octets)}});
  login.data = text_of(keys);
  connection.transport->send(login);
  const Pdu response = connection.transport->receive();
  if (response.opcode() != Opcode::login_response || response.half(at::status_class) != 0)
    throw CommandFailed("login refused, status " + std::to_string(response.half(at::status_class)));
  tsih_ = response.half(at::tsih);
  connection.expected_stat_sn = response.word(at::stat_sn) + 1;
  connections_.push_back(std::move(connection));
}

void Session::log_out() {
  for (Connection& connection : connections_) {
    Pdu logout(Opcode::logout_request, final_bit | (connections_.size() > 1 ? 1 : 0));  // this connection; the session
    logout.set_word(at::task_tag, next_tag_++);
    logout.set_word(at::command_sn, command_sn_++);
    logout.set_word(at::expected_command_sn, connection.expected_stat_sn);
    connection.transport->send(logout);
    if (connection.transport->receive().opcode() != Opcode::logout_response) throw CommandFailed("logout refused");
  }
  connections_.clear();
}

// --- commands ------------------------------------------------------------------------------------------------------

Session::Connection& Session::next() { return connections_.at(turn_++ % connections_.size()); }

Pdu Session::command(Connection& of, std::uint8_t flags, std::uint8_t operation, std::uint32_t first_block,
                     std::size_t octets) {
  Pdu pdu(Opcode::scsi_command, final_bit | flags);
  pdu.set_word(at::task_tag, next_tag_++);
  pdu.set_word(at::expected_length, static_cast<std::uint32_t>(octets));
  pdu.set_word(at::command_sn, command_sn_++);
  pdu.set_word(at::expected_command_sn, of.expected_stat_sn);
  set_cdb(pdu, operation, first_block, static_cast<std::uint16_t>(octets / block_octets));
  return pdu;
}

/// Of a response, or of the last Data-In.
void Session::take_status(Connection& of, const Pdu& pdu) {
  of.expected_stat_sn = pdu.word(at::stat_sn) + 1;
  if (pdu.header[at::status] != 0)
    throw CommandFailed("the target answers with status " + std::to_string(pdu.header[at::status]));
}

/// The task's tag names the memory that the data is written to (B.4.2, ruling W-11).
void Session::read_command(Connection& of, std::uint32_t first_block, std::span<std::uint8_t> into, const char* what,
                           std::uint8_t operation) {
  Pdu asked = command(of, read_bit, operation, first_block, into.size());
  const Lent lent(*of.transport, into);
  const std::uint32_t tag = lent.tag();
  asked.set_word(at::task_tag, wrong_tags_ ? tag ^ 0x0000'0100 : tag);
  of.transport->send(asked);
  std::size_t expected = 0;
  for (bool done = false; !done;) {
    const Pdu pdu = of.transport->receive();
    if (pdu.opcode() == Opcode::scsi_response) return take_status(of, pdu);
    if (pdu.opcode() != Opcode::data_in || pdu.word(at::buffer_offset) != expected)
      throw CommandFailed(std::string(what) + ": data out of order");
    of.transport->place(pdu, into);
    expected += pdu.data_length();
    done = (pdu.flags() & status_bit) != 0;
    if (done) take_status(of, pdu);
  }
  if (expected != into.size()) throw CommandFailed(std::string(what) + ": data is missing");
}

std::uint32_t Session::blocks() {
  std::array<std::uint8_t, 8> answer{};
  read_command(next(), 0, answer, "READ CAPACITY", scsi::read_capacity_10);
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < 4; ++i) last = last << 8 | answer[i];
  return last + 1;
}

void Session::read(std::uint32_t first_block, std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const std::size_t here = std::min<std::size_t>(into.size(), command_octets / 2);
    read_command(next(), first_block, into.first(here), "READ", scsi::read_10);
    first_block += static_cast<std::uint32_t>(here / block_octets);
    into = into.subspan(here);
  }
}

void Session::write(std::uint32_t first_block, std::span<const std::uint8_t> from, std::size_t immediate_octets) {
  while (!from.empty()) {
    const std::size_t here = std::min<std::size_t>(from.size(), command_octets / 2);
    write_command(next(), first_block, from.first(here), immediate_octets);
    first_block += static_cast<std::uint32_t>(here / block_octets);
    from = from.subspan(here);
  }
}

/// Immediate data goes with the command, by Send (B.3); the rest as the target asks for it.
void Session::write_command(Connection& of, std::uint32_t first_block, std::span<const std::uint8_t> from,
                            std::size_t immediate_octets) {
  Pdu asked = command(of, write_bit, scsi::write_10, first_block, from.size());
  const auto immediate = from.first(std::min({immediate_octets, from.size(), std::size_t{first_burst_octets}}));
  asked.data.assign(immediate.begin(), immediate.end());
  of.transport->send(asked);
  for (;;) {
    const Pdu pdu = of.transport->receive();
    if (pdu.opcode() == Opcode::scsi_response) return take_status(of, pdu);
    if (pdu.opcode() != Opcode::r2t) throw CommandFailed("WRITE: neither R2T nor a response");
    answer_r2t(of, pdu, from);
  }
}

/// Into the memory that the transfer tag names (B.4.1), in rising order.
void Session::answer_r2t(Connection& of, const Pdu& r2t, std::span<const std::uint8_t> from) {
  const std::size_t offset = r2t.word(at::buffer_offset), octets = r2t.word(at::desired_length);
  if (offset > from.size() || octets > from.size() - offset) throw CommandFailed("WRITE: an R2T beyond the data");
  Pdu data(Opcode::data_out);
  data.set_word(at::task_tag, r2t.task_tag());
  data.set_word(at::transfer_tag, r2t.word(at::transfer_tag));
  data.set_word(at::expected_command_sn, of.expected_stat_sn);
  data.set_word(at::buffer_offset, static_cast<std::uint32_t>(offset));
  const std::uint32_t tag = r2t.word(at::transfer_tag);
  of.transport->send_data(data, from.subspan(offset, octets), wrong_tags_ ? tag ^ 0x0000'0100 : tag);
}

}  // namespace iscsi

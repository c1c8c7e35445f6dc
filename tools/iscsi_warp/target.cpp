#include "tools/iscsi_warp/target.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace iscsi {

// --- the disk ------------------------------------------------------------------------------------------------------

Disk::Disk(const std::string& file) : file_(::open(file.c_str(), O_RDWR | O_CLOEXEC)) {
  struct stat about {};
  if (file_ < 0 || ::fstat(file_, &about) != 0) throw std::system_error(errno, std::system_category(), file);
  constexpr off_t most = 0xFFFF'FFFF;  // READ CAPACITY(10) tells of no more
  blocks_ = static_cast<std::uint32_t>(std::min(about.st_size / off_t{block_octets}, most));
}
Disk::~Disk() { ::close(file_); }

bool Disk::has(std::uint32_t first_block, std::size_t octets) const {
  return first_block <= blocks_ && octets / block_octets <= blocks_ - first_block;
}

bool Disk::read(std::uint32_t first_block, std::span<std::uint8_t> into) const {
  if (!has(first_block, into.size())) return false;
  auto offset = off_t{first_block} * block_octets;
  while (!into.empty()) {
    const ssize_t count = ::pread(file_, into.data(), into.size(), offset);
    if (count <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return true;
}

bool Disk::write(std::uint32_t first_block, std::span<const std::uint8_t> from) const {
  if (!has(first_block, from.size())) return false;
  auto offset = off_t{first_block} * block_octets;
  while (!from.empty()) {
    const ssize_t count = ::pwrite(file_, from.data(), from.size(), offset);
    if (count <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return true;
}

// --- sessions ------------------------------------------------------------------------------------------------------

Sessions::Answer Sessions::log_in(std::uint16_t& tsih) {
  const std::lock_guard lock(mutex_);
  if (tsih == 0) {
    do ++last_;
    while (last_ == 0 || connections_.contains(last_));
    tsih = last_;
    connections_[tsih] = 1;
    return Answer::success;
  }
  const auto found = connections_.find(tsih);
  if (found == connections_.end()) return Answer::no_session;
  if (found->second == most_connections) return Answer::too_many_connections;
  ++found->second;
  return Answer::success;
}

void Sessions::leave(std::uint16_t tsih) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(tsih);
  if (found != connections_.end() && --found->second == 0) connections_.erase(found);
}

// --- a connection --------------------------------------------------------------------------------------------------

TargetConnection::~TargetConnection() {
  if (tsih_ != 0) sessions_.leave(tsih_);
}

Pdu TargetConnection::answer(Opcode opcode, const Pdu& to, std::uint8_t flags) {
  Pdu pdu(opcode, flags);
  pdu.set_word(at::task_tag, to.task_tag());
  pdu.set_word(at::stat_sn, stat_sn_);
  pdu.set_word(at::expected_command_sn, expected_command_sn_);
  pdu.set_word(at::max_command_sn, expected_command_sn_);  // one at a time
  return pdu;
}

bool TargetConnection::log_in() {
  const Pdu request = transport_->receive();
  if (request.opcode() != Opcode::login_request) throw ConnectionEnded("the first PDU is no login");
  expected_command_sn_ = request.word(at::command_sn);
  std::uint16_t tsih = request.half(at::tsih);
  const auto status = static_cast<std::uint16_t>(sessions_.log_in(tsih));
  if (status == 0) tsih_ = tsih;
  Pdu response = answer(Opcode::login_response, request, request.flags());
  ++stat_sn_;
  std::copy_n(request.header.begin() + at::isid, 6, response.header.begin() + at::isid);
  response.set_half(at::tsih, tsih_);
  response.set_half(at::status_class, status);
  Keys keys{{"MaxRecvDataSegmentLength", std::to_string(burst_octets)}};
  const Keys asked = keys_of(request.data);
  for (const char* key : {"MaxConnections", "InitialR2T", "ImmediateData", "MaxBurstLength", "FirstBurstLength"})
    if (asked.contains(key)) keys[key] = asked.at(key);  // this initiator's are those of the target
  if (asked.contains("TargetName")) keys["TargetPortalGroupTag"] = "1";
  response.data = text_of(keys);
  transport_->send(response);
  return status == 0;
}

void TargetConnection::serve() {
  if (!log_in()) return;
  for (;;) {
    const Pdu pdu = transport_->receive();
    expected_command_sn_ = pdu.word(at::command_sn) + 1;
    if (pdu.opcode() == Opcode::logout_request) {
      transport_->send(answer(Opcode::logout_response, pdu));
      return;
    }
    if (pdu.opcode() != Opcode::scsi_command) throw ConnectionEnded("a PDU that is not known here");
    carry_out(pdu);
  }
}

void TargetConnection::carry_out(const Pdu& command) {
  const std::uint32_t block = command.word(at::cdb + 2);
  const std::size_t octets = std::size_t{command.half(at::cdb + 7)} * block_octets;
  const bool fits = octets <= command_octets && octets == command.word(at::expected_length);
  switch (command.header[at::cdb]) {
    case scsi::test_unit_ready: return respond(command, Status::good);
    case scsi::read_capacity_10: {
      Pdu capacity;  // of its words two are used
      capacity.set_word(0, disk_.blocks() - 1);
      capacity.set_word(4, block_octets);
      return read(command, std::span<const std::uint8_t>(capacity.header).first(8));
    }
    case scsi::read_10: {
      std::vector<std::uint8_t> data(fits ? octets : 0);
      if (!fits || !disk_.read(block, data)) return respond(command, Status::check_condition);
      return read(command, data);
    }
    case scsi::write_10: return fits ? write(command) : respond(command, Status::check_condition);
    default: return respond(command, Status::check_condition);
  }
}

/// Data-In, a burst each; the last one has the status.
void TargetConnection::read(const Pdu& command, std::span<const std::uint8_t> data) {
  if (data.empty()) return respond(command, Status::good);
  std::uint32_t number = 0;
  for (std::size_t offset = 0; offset < data.size(); ++number) {
    const auto here = data.subspan(offset, std::min<std::size_t>(burst_octets, data.size() - offset));
    const bool last = offset + here.size() == data.size();
    Pdu pdu = answer(Opcode::data_in, command, last ? final_bit | status_bit : 0);
    pdu.set_word(at::transfer_tag, no_tag);
    pdu.set_word(at::data_sn, number);
    pdu.set_word(at::buffer_offset, static_cast<std::uint32_t>(offset));
    transport_->send_data(pdu, here, command.task_tag());
    offset += here.size();
  }
  ++stat_sn_;
}

void TargetConnection::write(const Pdu& command) {
  std::vector<std::uint8_t> data(command.word(at::expected_length));
  const bool good = fetch(command, data) && disk_.write(command.word(at::cdb + 2), data);
  respond(command, good ? Status::good : Status::check_condition);
}

/// What came with the command, and the rest, a burst for each R2T. False: more came than there should be.
bool TargetConnection::fetch(const Pdu& command, std::span<std::uint8_t> memory) {
  if (command.data.size() > memory.size()) return false;
  std::copy(command.data.begin(), command.data.end(), memory.begin());
  if (command.data.size() == memory.size()) return true;
  const Lent lent(*transport_, memory);
  const std::uint32_t tag = lent.tag();
  std::uint32_t number = 0;
  for (std::size_t offset = command.data.size(); offset < memory.size(); ++number) {
    const std::size_t here = std::min<std::size_t>(burst_octets, memory.size() - offset);
    Pdu r2t = answer(Opcode::r2t, command);
    r2t.set_word(at::transfer_tag, tag);
    r2t.set_word(at::data_sn, number);
    r2t.set_word(at::buffer_offset, static_cast<std::uint32_t>(offset));
    r2t.set_word(at::desired_length, static_cast<std::uint32_t>(here));
    transport_->send(r2t);
    const Pdu data = transport_->receive();
    if (data.opcode() != Opcode::data_out || data.word(at::transfer_tag) != tag ||
        data.word(at::buffer_offset) != offset || data.data_length() != here)
      throw ConnectionEnded("Data-Out that was not asked for");
    transport_->place(data, memory);
    offset += here;
  }
  return true;
}

void TargetConnection::respond(const Pdu& command, Status status) {
  Pdu response = answer(Opcode::scsi_response, command);
  ++stat_sn_;
  response.header[at::status] = static_cast<std::uint8_t>(status);
  transport_->send(response);
}

}  // namespace iscsi

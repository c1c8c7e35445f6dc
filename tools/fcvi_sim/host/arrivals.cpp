#include "tools/fcvi_sim/host/arrivals.hpp"

namespace sim {

bool takes_receives(const TransferSpec& transfer) {
  return transfer.operation == Operation::Send || (transfer.operation == Operation::RdmaWrite && transfer.immediate);
}

std::uint64_t credit_count(const TransferSpec& transfer, std::uint32_t queue_depth) {
  const std::uint32_t window = transfer.window(queue_depth);
  const std::uint64_t messages = transfer.message_count(), half = window / 2;
  if (!takes_receives(transfer) || transfer.reply_bytes || messages <= window) return 0;
  return (messages - window + half - 1) / half;
}

Arrivals::Arrivals(const WorkloadSpec& workload, Side side) : queue_depth_(workload.queue_depth), side_(side) {
  for (std::size_t index = 0; index < workload.transfers.size(); ++index)
    for (std::uint32_t repetition = 0; repetition < workload.transfers[index].repeat; ++repetition)
      runs_.push_back({&workload.transfers[index], repetition, index});
}

std::uint64_t Arrivals::count_of_run() const {
  const TransferSpec& transfer = *runs_[run_].transfer;
  const std::uint64_t replies = transfer.reply_bytes ? transfer.message_count() : 0;
  if (transfer.initiator == side_) return 2 + credit_count(transfer, queue_depth_) + replies;  // Offer, these, Verdict
  return 1 + (takes_receives(transfer) ? transfer.message_count() : 0);                        // messages, Done
}

Arrival Arrivals::arrival() const {
  const TransferSpec& transfer = *runs_[run_].transfer;
  const bool last = position_ + 1 == count_of_run();
  if (transfer.initiator == side_ && transfer.reply_bytes && position_ != 0 && !last)
    return {.kind = Arrival::Kind::Reply, .run = run_, .message = position_ - 1};
  if (transfer.initiator == side_ || last) return {.run = run_};
  const auto kind = transfer.operation == Operation::Send ? Arrival::Kind::Data : Arrival::Kind::Immediate;
  return {.kind = kind, .run = run_, .message = position_};
}

std::optional<Arrival> Arrivals::peek() const { return run_ == runs_.size() ? std::nullopt : std::optional(arrival()); }

std::optional<Arrival> Arrivals::next() {
  const std::optional<Arrival> found = peek();
  if (!found) return std::nullopt;
  if (++position_ == count_of_run()) {
    position_ = 0;
    ++run_;
  }
  return found;
}

}  // namespace sim

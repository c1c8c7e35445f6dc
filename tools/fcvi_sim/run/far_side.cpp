#include "tools/fcvi_sim/run/far_side.hpp"

namespace sim {

// It concerns nobody before a message of this side comes.
ByteWriter& ToFarSide::begin(News news) {
  ByteWriter& message = outbox_.begin(part_, MessageKind::Workload, runtime::never);
  message.put(workload_);
  message.put(news);
  return message;
}

void ToFarSide::transfer_began(std::size_t transfer) { begin(News::TransferBegan).put(transfer); }

void ToFarSide::message_due(std::size_t transfer, runtime::TimeNs due) {
  ByteWriter& message = begin(News::MessageDue);
  message.put(transfer);
  message.put(due);
}

void ToFarSide::run_finished(std::size_t transfer, runtime::TimeNs at) {
  ByteWriter& message = begin(News::RunFinished);
  message.put(transfer);
  message.put(at);
}

void ToFarSide::deliver(ByteReader& message, std::vector<WorkloadResult>& results) {
  WorkloadResult& result = results.at(message.get<std::size_t>());
  switch (message.get<News>()) {
    case News::TransferBegan: return result.transfers.at(message.get<std::size_t>()).due.clear();
    case News::MessageDue: {
      auto& due = result.transfers.at(message.get<std::size_t>()).due;
      return due.push_back(message.get<runtime::TimeNs>());
    }
    case News::RunFinished: {
      auto& finished = result.transfers.at(message.get<std::size_t>()).run_finished;
      finished = message.get<runtime::TimeNs>();
      return;
    }
  }
}

}  // namespace sim

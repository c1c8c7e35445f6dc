// What the program of one side of a workload does, told to the part of the run that has the other side.
#pragma once
#include "tools/fcvi_sim/host/workload_result.hpp"
#include "tools/fcvi_sim/parts/outbox.hpp"

namespace sim {

class ToFarSide final : public FarSide {
 public:
  /// `part` has the other side of the workload at that position.
  ToFarSide(Outbox& outbox, std::size_t part, std::size_t workload)
      : outbox_(outbox), part_(part), workload_(workload) {}
  void transfer_began(std::size_t transfer) override;
  void message_due(std::size_t transfer, runtime::TimeNs due) override;
  void run_finished(std::size_t transfer, runtime::TimeNs at) override;

  /// The rest of a message of MessageKind::Workload, from the other part.
  static void deliver(ByteReader& message, std::vector<WorkloadResult>& results);

 private:
  enum class News : std::uint8_t { TransferBegan, MessageDue, RunFinished };
  ByteWriter& begin(News news);

  Outbox& outbox_;
  const std::size_t part_, workload_;
};

}  // namespace sim

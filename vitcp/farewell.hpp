// A stream that gets no more than an answer: ConnectReject or ConnectNoMatch has to arrive before it is closed.
#pragma once
#include <vector>

#include "vitcp/closing.hpp"

namespace vitcp {
class Farewell;

class FarewellOwner {
 public:
  /// It may be destroyed, not from within.
  virtual void over(Farewell& farewell) = 0;

 protected:
  ~FarewellOwner() = default;
};

class Farewell final : private streams::StreamUser, private ClosingUser {
 public:
  Farewell(const Services& services, FarewellOwner& owner, std::unique_ptr<streams::Stream> stream,
           std::vector<std::uint8_t> unsent);
  void start() { closing_.fail(); }
  [[nodiscard]] bool is_over() const { return !closing_.has_stream(); }
  [[nodiscard]] bool is_consistent() const { return closing_.is_consistent(); }

 private:
  void readable() override { closing_.read_and_drop(); }
  void writable() override { write(); }
  void closed(streams::Reason) override { closing_.stream_broken(); }
  void finish_output() override;
  void stream_gone() override { owner_.over(*this); }
  void write();

  const Services& services_;
  FarewellOwner& owner_;
  std::vector<std::uint8_t> unsent_;
  Closing closing_;
  runtime::Timer<Farewell, &Farewell::write> write_{*this};
};

}  // namespace vitcp

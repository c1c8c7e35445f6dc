// The module that has MPI: Ranks over Boost.MPI.
#include <sched.h>

#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/exception.hpp>
#include <boost/mpi/operations.hpp>
#include <exception>
#include <list>
#include <memory>
#include <utility>

#include "tools/fcvi_sim/ranks/module.hpp"

namespace sim::ranks {
namespace {
namespace mpi = boost::mpi;

class MpiRanks final : public Ranks {
 public:
  ~MpiRanks() override {
    if (!died_) return;
    static_cast<void>(environment_.release());
    static_cast<void>(sent_.release());
  }
  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }
  void somebody_died() override { died_ = true; }
  void send(int to, Channel channel, std::span<const std::uint8_t> bytes) override;
  std::optional<Message> take(Channel channel) override { return take_from(mpi::any_source, channel); }
  std::optional<Message> take_from(int from, Channel channel) override;
  Message wait_for(int from, Channel channel) override;
  std::uint64_t least(std::uint64_t value) override {
    return mpi::all_reduce(world_, value, mpi::minimum<std::uint64_t>());
  }

 private:
  /// A message on its way: MPI reads the bytes until it has gone.
  struct Sent {
    Bytes bytes;
    mpi::request request;
  };
  void forget_what_has_gone();

  // Errors are returned, as exceptions of Boost: one rank that cannot be reached does not end the others.
  std::unique_ptr<mpi::environment> environment_ =
      std::make_unique<mpi::environment>(mpi::threading::funneled, /*abort_on_exception=*/false);
  mpi::communicator world_;
  std::unique_ptr<std::list<Sent>> sent_ = std::make_unique<std::list<Sent>>();
  bool died_ = false;
};

void MpiRanks::send(int to, Channel channel, std::span<const std::uint8_t> bytes) {
  forget_what_has_gone();
  Sent& sent = sent_->emplace_back(Sent{Bytes(bytes.begin(), bytes.end()), {}});
  try {
    sent.request = world_.isend(to, static_cast<int>(channel), sent.bytes.data(), static_cast<int>(sent.bytes.size()));
  } catch (const mpi::exception&) {
    sent_->pop_back();  // that rank died
  }
}

void MpiRanks::forget_what_has_gone() {
  for (auto sent = sent_->begin(); sent != sent_->end();) {
    bool gone = true;
    try {
      gone = sent->request.test().has_value();
    } catch (const mpi::exception&) {}
    sent = gone ? sent_->erase(sent) : std::next(sent);
  }
}

std::optional<Message> MpiRanks::take_from(int from, Channel channel) {
  const int tag = static_cast<int>(channel);
  try {
    const auto status = world_.iprobe(from, tag);
    if (!status) {
      forget_what_has_gone();  // MPI carries on only while it is called
      return std::nullopt;
    }
    Message message{status->source(), Bytes(static_cast<std::size_t>(status->count<std::uint8_t>().value_or(0)))};
    world_.recv(message.from, tag, message.bytes.data(), static_cast<int>(message.bytes.size()));
    return message;
  } catch (const mpi::exception&) {
    return std::nullopt;
  }
}

Message MpiRanks::wait_for(int from, Channel channel) {
  constexpr int tries_at_once = 200;
  for (int tries = 0;; ++tries) {
    if (auto message = take_from(from, channel)) return std::move(*message);
    if (tries % tries_at_once == tries_at_once - 1) ::sched_yield();
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Ranks* fcvi_sim_open_ranks(std::string& wrong) {
  try {
    return std::make_unique<MpiRanks>().release();
  } catch (const std::exception& error) {
    wrong = std::string("MPI does not start: ") + error.what();
    return nullptr;
  }
}

}  // namespace sim::ranks

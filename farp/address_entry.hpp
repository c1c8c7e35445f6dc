// One host address in the cache: drives machines::address_resolution.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "state_machines/address_resolution.hpp"
#include "state_machines/outbox.hpp"

namespace farp {
class AddressEntry;

/// What an entry needs from its resolver.
class EntryOwner {
 public:
  /// The entry was found, or not: its listeners are to be told once the machine rests.
  virtual void settled(AddressEntry& entry, bool found) = 0;
  [[nodiscard]] virtual bool is_own(const wire::IpAddress& address) const = 0;
  virtual void send_farp_request(const wire::IpAddress& address) = 0;

 protected:
  ~EntryOwner() = default;
};

class AddressEntry final : private machines::address_resolution::Context,
                           private fc2::ExchangeUser,
                           private runtime::Event {
 public:
  AddressEntry(EntryOwner& owner, fc2::NPort& port, const ResolverConfig& config, const wire::IpAddress& address)
      : owner_(owner), port_(port), config_(config), address_(address) {}
  ~AddressEntry() override;

  void resolve() { process(machines::address_resolution::ResolveRequested{}); }
  void invalidate() { process(machines::address_resolution::Invalidated{}); }
  void farp_reply_received(wire::FcId id);
  [[nodiscard]] const wire::IpAddress& address() const { return address_; }
  [[nodiscard]] std::span<const wire::FcId> n_port_ids() const { return n_port_ids_; }
  [[nodiscard]] bool maps_to(wire::FcId id) const;
  /// No listener waits for its answer.
  [[nodiscard]] bool idle() const {
    namespace ar = machines::address_resolution;
    return !machine_.is_any_of<ar::QueryingNameServer, ar::AwaitFarpReply>();
  }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  /// What is left to do when the machine has come to rest. OwnAddressFound: our broadcast does not come back to us.
  enum class Effect : std::uint8_t { OwnAddressFound, ReportResolved, ReportFailed };
  template <class E>
  void process(const E& event);
  void carry_out(Effect effect);
  void take_answer(std::span<const std::uint8_t> iu);
  bool make_room();

  // ExchangeUser: the answer to GID_IPP
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
  void fire(runtime::TimeNs now) override;

  // machines::address_resolution
  void query_name_server() override;
  void broadcast_farp() override;
  void start_query_timer() override;
  void start_farp_timer() override;
  void stop_timer() override { port_.scheduler().cancel(*this); }
  void reset_retries() override { tries_ = 0; }
  void store_addresses() override { n_port_ids_ = std::exchange(answer_, {}); }
  void add_address() override;
  void forget_addresses() override { n_port_ids_.clear(); }
  void forget_query() override;
  void report_resolved() override { effects_.push(Effect::ReportResolved); }
  void report_failed() override { effects_.push(Effect::ReportFailed); }
  void count_stale() override { port_.counters().discard(fc2::Discard::UnexpectedIu); }
  [[nodiscard]] bool name_server_available() const override;
  [[nodiscard]] bool retries_left() const override { return tries_ <= config_.retries; }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;

  EntryOwner& owner_;
  fc2::NPort& port_;
  const ResolverConfig& config_;
  const wire::IpAddress address_;
  machines::address_resolution::Machine machine_;
  std::vector<wire::FcId> n_port_ids_;
  std::vector<wire::FcId> answer_;  // of GID_IPP, while its event is processed
  wire::FcId replied_{};            // of FARP-REPLY, likewise
  fc2::Exchange* query_ = nullptr;  // GID_IPP, unanswered
  fsm::Outbox<Effect, 1> effects_;
  int tries_ = 0;
};

}  // namespace farp

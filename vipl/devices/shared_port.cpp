#include "vipl/devices/shared_port.hpp"

#include <algorithm>

namespace vipl {
using vitcp::port_service::WaitId;
using vitcp::port_service::Wanted;

namespace {
/// A stream that was handed over is decided within moments. If it is not, it was lost, and another is asked for.
constexpr runtime::TimeNs decided_by_then = 100 * runtime::millisecond;
}  // namespace

/// One address, and what is waited for there. The service is to have as many waits as the NIC has that no stream is on
/// its way to: with more, streams would come that another process waits for; with fewer, none would come.
class SharedPort::Place final : private vitcp::drivers::PortUser {
 public:
  Place(TcpShared& shared, const vitcp::drivers::PortClientOptions& options, TcpPortUser& user)
      : at_(options.listen), scheduler_(shared.engine().scheduler()), user_(user),
        client_(*shared.engine().runtime().io(), shared.engine(), shared.streams(), options, *this) {}

  [[nodiscard]] const streams::Address& at() const { return at_; }
  [[nodiscard]] const vitcp::drivers::PortClient& client() const { return client_; }

  void waiting_changed(const Wanted& wanted, std::size_t count) {
    Waits& waits = waits_[wanted];
    if (count < waits.count) waits.on_their_way -= std::min(waits.on_their_way, waits.count - count);
    waits.count = count;
    settle(waits_.find(wanted));
  }

 private:
  struct Waits {
    std::size_t count = 0;         // of the NIC
    std::size_t on_their_way = 0;  // streams that were handed over and are not decided
    std::vector<WaitId> ids;       // at the service, the oldest first
  };
  using AllWaits = std::map<Wanted, Waits, vitcp::port_service::WantedOrder>;

  // The next one, if it is the last: nothing is waited for any more.
  AllWaits::iterator settle(AllWaits::iterator place) {
    auto& [wanted, waits] = *place;
    for (; !waits.ids.empty() && waits.ids.size() + waits.on_their_way > waits.count; waits.ids.pop_back()) {
      client_.cancel(waits.ids.back());
      places_of_.erase(waits.ids.back());
    }
    while (waits.ids.size() + waits.on_their_way < waits.count) {
      waits.ids.push_back(client_.wait(wanted));
      places_of_[waits.ids.back()] = place;
    }
    const bool over = waits.count == 0 && waits.on_their_way == 0;
    return over ? waits_.erase(place) : std::next(place);
  }

  void handed_over(WaitId id, std::unique_ptr<streams::Stream> stream) override {
    if (const auto found = places_of_.find(id); found != places_of_.end()) {
      Waits& waits = found->second->second;
      std::erase(waits.ids, id);
      ++waits.on_their_way;
      places_of_.erase(found);
      if (!look_again_.pending()) scheduler_.schedule_after(look_again_, decided_by_then);
    }
    user_.stream_came(std::move(stream));
  }

  void port_changed(bool, const std::string&) override { user_.port_changed(); }

  void look_again() {
    for (auto place = waits_.begin(); place != waits_.end();) {
      place->second.on_their_way = 0;
      place = settle(place);
    }
  }

  const streams::Address at_;
  runtime::Scheduler& scheduler_;
  TcpPortUser& user_;
  AllWaits waits_;
  std::map<WaitId, AllWaits::iterator> places_of_;
  runtime::Timer<Place, &Place::look_again> look_again_{*this};
  vitcp::drivers::PortClient client_;
};

SharedPort::SharedPort(TcpShared& shared, const std::vector<streams::Address>& addresses,
                       const vitcp::drivers::PortClientOptions& options, TcpPortUser& user) {
  for (const streams::Address& address : addresses) {
    vitcp::drivers::PortClientOptions own = options;
    own.listen = address;
    places_.push_back(std::make_unique<Place>(shared, own, user));
  }
}

SharedPort::~SharedPort() = default;

bool SharedPort::listens() const {
  return std::all_of(places_.begin(), places_.end(), [](const auto& place) { return place->client().listens(); });
}

std::string SharedPort::trouble() const {
  for (const auto& place : places_)
    if (!place->client().trouble().empty()) return place->client().trouble();
  return {};
}

/// Where one service listens at all addresses, it tells them apart by Wanted::at.
void SharedPort::waiting_changed(const Wanted& wanted, std::size_t count) {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const auto& place) {
    return place->at().ip == wanted.at.value_or(wire::IpAddress{});
  });
  (found == places_.end() ? *places_.front() : **found).waiting_changed(wanted, count);
}

}  // namespace vipl

// Which ConnectRequests a NIC waits for, for whoever listens at its port in its place (ruling V-12).
#pragma once
#include <map>

#include "vi/connection_points.hpp"
#include "vitcp/port_service/waiters.hpp"

namespace vitcp {

class WaitListener {
 public:
  /// So many ConnectRequests of this kind are waited for from now on. Nothing of the provider is called from within.
  virtual void waiting_changed(const port_service::Wanted& wanted, std::size_t count) = 0;

 protected:
  ~WaitListener() = default;
};

/// How many wait for what.
class WaitBook final : public vi::ConnectionPointsListener {
 public:
  /// Before anybody waits; nullptr: nobody has to know.
  void set_listener(WaitListener* listener) { listener_ = listener; }
  /// One more waits for such a request, or one less.
  void change(const port_service::Wanted& wanted, bool more);
  /// VipConnectWait.
  void waiting_changed(const vi::NetAddress& local, bool more) override;
  /// Kinds of requests that somebody waits for.
  [[nodiscard]] std::size_t size() const { return counts_.size(); }

 private:
  WaitListener* listener_ = nullptr;
  std::map<port_service::Wanted, std::size_t, port_service::WantedOrder> counts_;  // none is 0
};

}  // namespace vitcp

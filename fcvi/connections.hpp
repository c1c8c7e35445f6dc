// All connections of one port: by FCVI_HANDLE, and what their VIs were given and told.
#pragma once
#include <map>
#include <vector>

#include "fcvi/connection.hpp"
#include "fcvi/handle_table.hpp"

namespace fcvi {

class Connections final : public ConnectionOwner {
 public:
  /// Keeps the reference, and does not use it yet.
  Connections(const Services& services, const ProviderConfig& config);

  /// For a VI that is Idle; nullptr when no handle is free.
  Connection* open(vi::Vi& vi);
  [[nodiscard]] Connection* find(wire::FcviHandle handle) const { return handles_.find(handle); }
  /// For the next Connection Setup of this VI.
  void set_options(const vi::Vi& vi, ConnectionOptions options) { options_[&vi] = options; }
  [[nodiscard]] ConnectionOptions options_of(const vi::Vi& vi) const;
  /// The VI goes away.
  void forget(const vi::Vi& vi);
  void port_logged_out(wire::FcId peer);
  [[nodiscard]] std::size_t handles_in_use() const { return handles_.in_use(); }
  /// All connections are, whenever no function of any runs. Linear.
  [[nodiscard]] bool is_consistent() const;

  void retire(Connection& connection) override;
  /// Destroys those that are over.
  void bury();

 private:
  const Services& services_;
  HandleTable handles_;
  std::map<const vi::Vi*, ConnectionOptions> options_;  // of VIs that have their own
  std::vector<wire::FcviHandle> retired_;
};

}  // namespace fcvi

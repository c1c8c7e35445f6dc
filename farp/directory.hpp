// Lists the FC-VI ports of the fabric with the names and addresses that they registered. Asks the Name Server: GPN_FT
// and GNN_FT for TYPE 58h, GSNN_NN for each node, then GIPP_ID for each port of a node whose addresses somebody wants,
// a few requests at a time. GNN_ID for each port where a server has no GNN_FT.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/node/n_port.hpp"
#include "runtime/scheduler.hpp"
#include "wire/types.hpp"

namespace farp {

struct DirectoryConfig {
  runtime::TimeNs timeout = 5 * runtime::second;          // of a whole listing
  runtime::TimeNs request_timeout = 1 * runtime::second;  // of one request
  int retries = 2;                                        // of one request that was not answered
  std::size_t max_ports = 4000;  // listed; more are a failure. Their GPN_FT accept has 64,000 bytes
  std::size_t max_requests = 8;  // under way at once
};

/// A FC-VI port as it registered itself.
struct DirectoryEntry {
  wire::FcId n_port_id{};
  wire::Wwn port_name{};
  wire::Wwn node_name{};
  std::string symbolic_node_name;          // may be empty
  std::vector<wire::IpAddress> addresses;  // may be empty; is where nobody wanted them
  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

enum class DirectoryFailure {
  NoNameServer,  // the port is not logged in with one, or was logged out meanwhile
  NoAnswer,      // a request timed out again and again, or the whole listing
  BadAnswer,     // the Name Server rejects the request, or its answer cannot be parsed
  TooMany,       // ports than max_ports, or requests than the N_Port can have under way
};
std::string_view to_string(DirectoryFailure failure);

/// Exactly one call answers each list(); it may come from inside, and may ask again or forget others.
class DirectoryListener {
 public:
  /// In the order of the Name Server, this port included. A port that goes away meanwhile is left out, if it is still
  /// to be asked for.
  virtual void directory_listed(std::span<const DirectoryEntry> ports) = 0;
  virtual void directory_failed(DirectoryFailure failure) = 0;
  /// False: this listing need not contain the addresses of the nodes with this name, which may be empty. A fabric of
  /// many ports is listed with few requests when one node is looked for.
  [[nodiscard]] virtual bool wants_addresses_of(const std::string& symbolic_node_name) const {
    return static_cast<void>(symbolic_node_name), true;
  }

 protected:
  ~DirectoryListener() = default;
};

/// One for each N_Port, which must outlive it.
class Directory {
 public:
  explicit Directory(fc2::NPort& port, DirectoryConfig config = {});
  ~Directory();

  /// Finds all that is registered at this time. Listeners that ask while a listing is under way share the next one.
  void list(DirectoryListener& listener);
  /// The listener is destroyed, or needs no answer any more.
  void forget(DirectoryListener& listener);
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace farp

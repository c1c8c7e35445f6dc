// What a port asked a Name Server for when it listed the ports of the fabric (farp/directory.hpp).
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/fcvi_sim/replay/conversation.hpp"

namespace sim::replay {

/// Fed with all frames in order.
class Listings {
 public:
  void add(std::size_t at, const CapturedFrame& frame);
  struct Listing {
    std::size_t at = 0;                 // of its GPN_FT
    std::set<std::string> wanted = {};  // symbolic names of the nodes whose addresses it asked for
  };
  [[nodiscard]] std::vector<Listing> take() { return std::move(listings_); }

 private:
  void asked(std::size_t at, const CapturedFrame& frame);
  void answered(const CapturedFrame& frame);
  void want(wire::FcId port);

  std::vector<Listing> listings_;
  std::map<std::uint16_t, std::pair<std::string_view, wire::Wwn>> questions_;  // by OX_ID: name, and node of GSNN_NN
  std::map<std::uint32_t, wire::Wwn> nodes_;                                   // by N_Port_ID
  std::map<std::uint64_t, std::string> names_;
};

}  // namespace sim::replay

// The part of the status that the processes of this host report about their NICs on Ethernet.
#pragma once
#include <boost/json.hpp>
#include <string>

namespace fabricd {

/// For people. Throws if a member is missing or of another kind.
std::string text_of_nic(const boost::json::object& nic);

}  // namespace fabricd

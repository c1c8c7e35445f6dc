// The Ethernet part of the status.
#pragma once
#include <boost/json.hpp>
#include <string>

#include "tools/fabricd/status.hpp"

namespace fc2 {
class Switch;
}

namespace fabricd {
class FcoeSide;

FcoeStatus describe(FcoeSide& fcoe, fc2::Switch& fabric, const Rates& rates, runtime::TimeNs now);
boost::json::object to_object(const FcoeStatus& fcoe);
/// For people, from the result of to_object(). Throws if a member is missing or of another kind.
std::string text_of_fcoe(const boost::json::object& fcoe);

}  // namespace fabricd

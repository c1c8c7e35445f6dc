// What a status in JSON holds, for the lines that fcvi-ctl prints. It is our own: a key that is missing throws.
#pragma once
#include <boost/json.hpp>
#include <cstdint>
#include <string>

namespace fabricd {

[[nodiscard]] inline std::string text(const boost::json::object& object, const char* key) {
  return std::string(object.at(key).as_string());
}
[[nodiscard]] inline std::uint64_t number(const boost::json::object& object, const char* key) {
  return object.at(key).to_number<std::uint64_t>();
}
/// Of a key in milliseconds.
[[nodiscard]] inline double seconds(const boost::json::object& object, const char* key) {
  return static_cast<double>(number(object, key)) / 1000;
}

}  // namespace fabricd

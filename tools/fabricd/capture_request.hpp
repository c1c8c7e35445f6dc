// What a capture shall have, as the command asks the service for it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/scheduler.hpp"
#include "tools/fabricd/history_writer.hpp"

namespace fabricd {

struct CaptureRequest {
  static constexpr std::string_view word = "capture";
  /// Before a request for a capture: asks which of its ports are not there, a line for each.
  static constexpr std::string_view find_word = "find\n";
  CaptureChoice choice;
  std::uint64_t count = 0;              // ends by itself after so many frames; 0: when it is asked to
  std::optional<runtime::TimeNs> last;  // not from now on: what is kept of the time until now
  bool from_first = false;              // from now on, and all that is kept: it waited for the service

  /// The body of a Request record: the word, and a line for each option. Names of ports have no line feeds.
  [[nodiscard]] std::string to_text() const;
  /// nullopt: it is another request, or none of this version.
  [[nodiscard]] static std::optional<CaptureRequest> parse(std::string_view text);
};

}  // namespace fabricd

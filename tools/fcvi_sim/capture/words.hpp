// What is said of a frame in words: its message, what is unusual about it, what is wrong.
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/fields.hpp"
#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::capture {

/// The words of the ladder diagrams; of a frame of a longer message also its part: "FCVI_SEND_RQST msg 1 [2080+2080 of
/// 10 KiB]".
[[nodiscard]] std::string summary(const Seen& seen);
/// "010100 > 010200", or MAC addresses; empty: the frame tells none.
[[nodiscard]] std::string route(const Seen& seen);
/// "first end initiative": the bits that have a name.
[[nodiscard]] std::string f_ctl_words(std::uint32_t f_ctl);
/// "3", "2", "F"; empty: not known.
[[nodiscard]] std::string service_class(const Frame& frame);
/// "SOFi3", or the code of a delimiter without a name: "SOF=77h".
[[nodiscard]] std::string sof_words(wire::Sof sof);
[[nodiscard]] std::string eof_words(wire::Eof eof);
/// Class, delimiters, F_CTL where they are not the usual ones; a wrong CRC; what the snap length cut; copies.
[[nodiscard]] std::vector<std::string> peculiarities(const Seen& seen);
/// "FIP Link Service Request, FLOGI": what it is, without its descriptors.
[[nodiscard]] std::string fip_name(const wire::fip::FipMessage& fip);
/// Seconds with nine digits.
[[nodiscard]] std::string seconds(Time time);
[[nodiscard]] std::string end_words(const Endpoint* end);
[[nodiscard]] std::string level_words(const Connection& connection);

/// Every field of the frame, from the outside to the inside.
[[nodiscard]] std::vector<Field> all_fields(const Seen& seen);

}  // namespace sim::capture

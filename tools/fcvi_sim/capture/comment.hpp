// What a packet comment tells of its frame: those of the simulator's captures and of the live fabric's are known.
#pragma once
#include <cstdint>
#include <string_view>

namespace sim::capture {

/// `note`: nothing that changes the frame, or the words of somebody else.
enum class Tells : std::uint8_t { note, fault, lost };

[[nodiscard]] std::string_view to_string(Tells tells);  // "note"; "fault" also of a lost frame
/// "fault: delayed by 1 ms", "fault: lost: silence"; "lost: the link ...", "discarded by the fabric ...". The live
/// fabric puts "7 frames are missing before this one: ...; " in front.
[[nodiscard]] Tells told_by(std::string_view comment);
/// That frames are missing before this one.
[[nodiscard]] bool tells_of_gap(std::string_view comment);
/// The live fabric shows a frame again to tell what became of it since ("..., after it had been shown").
[[nodiscard]] bool tells_of_frame_before(std::string_view comment);
/// The process of its sender ended behind this frame, and not in order: "the last frame of ...".
[[nodiscard]] bool tells_of_end(std::string_view comment);
/// Without "fault: ".
[[nodiscard]] std::string_view words_of(std::string_view comment);

}  // namespace sim::capture

// The ports of which frames are kept, by numbers that are never used again: also those that are gone, while there are
// frames of them. Of fault rules that befell frames, what they do.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/types.hpp"

namespace fabricd {

struct NamedPort {
  std::string text;                       // for people, and for the interface of a capture
  std::string name;                       // of the program, or of the Ethernet interface
  std::uint32_t process_id = 0;           // 0: none
  wire::FcId address{};                   // 0: none of its own
  std::vector<std::string> more_names{};  // its Port_Name, the name of its node: as long as they are known
  std::string end{};  // how it ended, as a clause: "its process was killed by signal 9"; empty: it is there
  bool orderly_end = true;
  std::uint64_t last_sent = 0;   // the number of the latest frame that it sent; 0: none
  std::uint64_t last_frame = 0;  // frames up to this number may be its own, when it is gone
};

/// An N_Port_ID as people write it: 010200, 0x010200, 01.02.00; nullopt: it is none.
std::optional<wire::FcId> address_of(std::string_view text);

/// A value: a copy is a snapshot.
class PortNames {
 public:
  using Number = std::uint32_t;
  static constexpr Number fabric = 0;
  static constexpr std::string_view text_of_fabric = "fabric";

  Number add(NamedPort port);
  /// Its latest frame.
  void sent(Number number, std::uint64_t frame);
  /// It is called so, too, and no longer as before.
  void set_more_names(Number number, std::vector<std::string> names);
  /// It is gone; frames up to `last_frame` may be its own.
  void gone(Number number, std::string end, bool orderly, std::uint64_t last_frame);
  /// Those that are gone and have no frame from `first_frame` on are forgotten.
  void forget_before(std::uint64_t first_frame);
  /// nullptr: the fabric, or forgotten.
  [[nodiscard]] const NamedPort* find(Number number) const;
  /// Never empty.
  [[nodiscard]] std::string_view text_of(Number number) const;
  /// The one that had that address last; 0: none, or forgotten.
  [[nodiscard]] Number last_at(wire::FcId address) const;
  /// `wanted` is its name, or the part before a "[" of that; its text, its process, its N_Port_ID, or one of
  /// its other names.
  [[nodiscard]] static bool is_called(const NamedPort& port, std::string_view wanted);
  [[nodiscard]] const std::map<Number, NamedPort>& all() const { return ports_; }

  /// A rule of that number, which is never used again, befell a frame: "lost", "delayed by 1.000 ms".
  void note_fault(unsigned rule, std::string_view what);
  /// What the rule does; empty: it is none of the latest `most_faults` that befell a frame.
  [[nodiscard]] std::string_view fault_note(unsigned rule) const;
  static constexpr std::size_t most_faults = 1024;

 private:
  std::map<Number, NamedPort> ports_;
  std::map<std::uint32_t, Number> last_at_;  // by address
  std::map<unsigned, std::string> faults_;   // by rule
  Number last_ = fabric;
};

}  // namespace fabricd

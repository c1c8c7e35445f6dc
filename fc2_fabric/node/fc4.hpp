// What an FC-4 (an upper layer protocol, known by its TYPE) asks of the N_Port beyond FC-FS.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "wire/els/login.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {

/// The N_Port knows no FC-4 but by this. One that says nothing but its TYPE has exchanges as FC-FS leaves them.
struct Fc4 {
  wire::Type type{};
  /// SEQ_CNT runs on over all sequences of an Exchange: none begins at 0 again, as FC-FS lets those that are not
  /// streamed. Only with ports that say so of themselves at login.
  bool continuous_seq_cnt = false;
  /// The Parameter field is a relative offset in every frame, and F_CTL says so. Only with ports that say at login that
  /// theirs increase continuously.
  bool relative_offset = false;
  /// A Device_Header stands in every frame of a sequence; the IU has it once. Else in the first one only: FC-FS lets
  /// the FC-4 choose.
  bool repeats_device_header = false;

  /// What the other port must have guaranteed in PLOGI or its accept (wire::els::feature). Ours guarantees both,
  /// whatever FC-4s it has: NPortConfig.
  [[nodiscard]] constexpr std::uint16_t login_features() const {
    namespace feature = wire::els::feature;
    return static_cast<std::uint16_t>((continuous_seq_cnt ? feature::seq_cnt : 0) |
                                      (relative_offset ? feature::continuously_increasing_relative_offset : 0));
  }
};

/// Those of one N_Port, by TYPE.
class Fc4Table {
 public:
  Fc4Table();
  void add(const Fc4& fc4);
  /// Exchanges that are open keep their rules.
  void remove(wire::Type type);
  /// Of a TYPE that was not added: FC-FS's own.
  [[nodiscard]] const Fc4& of(wire::Type type) const { return fc4s_[static_cast<std::uint8_t>(type)]; }
  /// Those that were added, ascending: what the port offers to others.
  [[nodiscard]] const std::vector<wire::Type>& types() const { return types_; }
  [[nodiscard]] bool has(wire::Type type) const;

 private:
  std::array<Fc4, 256> fc4s_;
  std::vector<wire::Type> types_;
};

}  // namespace fc2

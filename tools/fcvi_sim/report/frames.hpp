// The frames of a capture as a report has them: each once, in columns.
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tools/fcvi_sim/capture/copies.hpp"
#include "tools/fcvi_sim/capture/lanes.hpp"
#include "tools/fcvi_sim/capture/reading.hpp"
#include "tools/fcvi_sim/report/packed.hpp"
#include "tools/fcvi_sim/report/script_text.hpp"
#include "tools/fcvi_sim/run/record.hpp"

namespace sim::report {

/// A run knows its ports; a capture's lanes come from its interfaces and addresses.
struct FramesOptions {
  std::string path;                       // as capture::Reading::open() has it; read twice
  std::optional<std::int64_t> zero = {};  // times count from here; else from the first frame
  std::size_t most = 200'000;             // frames of the report; later ones are counted only
  /// Of a run's ports: name and address. Their lanes come first, in this order.
  std::vector<std::pair<std::string, std::string>> ports = {};
  std::span<const FaultHit> hits = {};  // of a run, in the order of its records
};

class Frames {
 public:
  /// Returns what is wrong with the capture; the frames before it are there.
  std::string read(const FramesOptions& options);
  [[nodiscard]] bool empty() const { return number_.empty(); }
  /// Frames of the capture, copies and those beyond the most included.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Records that show a frame that another one shows.
  [[nodiscard]] std::uint64_t copies() const { return copies_; }
  /// Records that are no rows: without the header of a frame, or cut before its end; TCP in which no VI segment ends.
  [[nodiscard]] std::uint64_t without_header() const { return without_header_; }
  /// Records that the most frames left no room for.
  [[nodiscard]] std::uint64_t left_out() const { return total_ - read_; }
  /// Position among the lanes; none: no frame came from or went to a port with that title.
  [[nodiscard]] std::optional<std::size_t> lane_named(std::string_view title) const;

  /// JSON: lanes, texts and columns; docs/report.md describes them.
  [[nodiscard]] std::string columns() const;
  /// The fields of frames, which of them each frame has, and the bytes of all frames, in pieces: see packed.hpp.
  [[nodiscard]] std::string field_lists() const { return packed_lists(lists_.texts()); }
  [[nodiscard]] std::string lists_of_frames() const { return packed_numbers(lists_of_frames_); }
  [[nodiscard]] std::string bytes() const { return packed_frames(bytes_, kept_); }

 private:
  /// What is shown of a record, but for what all have: lanes, message, whether it begins and ends a Sequence.
  struct Row {
    std::size_t from = 0, to = 0;
    std::string name, text;
    RowKind kind = RowKind::Other;
    bool is_first = false, is_last = false;
  };
  void add(const capture::Seen& seen);
  void add_packet(const capture::Seen& seen, const capture::TcpPacket& packet);
  void add_row(const capture::Seen& seen, const Row& row);
  void add_copy(const capture::Seen& seen, std::size_t row);
  void add_belonging(const capture::Seen& seen);
  void add_remarks(const capture::Seen& seen, std::size_t row);
  [[nodiscard]] std::string rule_of(std::uint64_t number) const;
  void add_fields(const capture::Seen& seen);
  void add_bytes(const capture::Seen& seen);
  [[nodiscard]] const std::string& title_of(std::size_t lane) const;
  void order_lanes();
  [[nodiscard]] bool begins_sequence(const capture::Seen& seen);

  capture::Lanes names_;
  const std::vector<capture::Interface>* interfaces_ = nullptr;  // while it reads
  std::optional<Ladder> lanes_;
  std::vector<std::pair<std::string, std::string>> ports_;  // name, address
  std::span<const FaultHit> hits_;
  std::vector<std::size_t> order_;  // of the lanes of ports
  std::int64_t zero_ = 0;
  std::uint64_t total_ = 0, read_ = 0, copies_ = 0, without_header_ = 0;
  std::size_t most_ = 0;

  Interner texts_, lists_, shapes_;
  std::vector<std::uint64_t> number_;
  std::vector<std::int64_t> at_;       // after zero, ns
  std::vector<std::int64_t> arrived_;  // how long it took; -1: not known
  std::vector<std::uint32_t> from_, to_, name_, text_, kind_, connection_, exchange_, message_, size_, kept_;
  std::vector<std::uint64_t> request_;     // number of the frame that it answers; 0: none
  std::vector<std::int64_t> answer_time_;  // since that; -1: none
  std::vector<std::uint32_t> flags_;       // Flag
  std::vector<std::vector<std::uint32_t>> lists_of_frames_;
  std::vector<std::string> remarks_;  // JSON: [row, "violation" or "fault" or "note", "text", rule]
  std::vector<std::uint8_t> bytes_;
  capture::Copies rows_;
  std::set<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t, bool>> open_;  // Sequences without SOF under way
};

/// Bits of the column "flags".
enum Flag : std::uint32_t { lost = 1, fault = 2, violation = 4, first = 8, last = 16, retry = 32, note = 64 };

}  // namespace sim::report

// The content of a ladder diagram: rows in order of time, made during the run. Frames of one sequence are one row; most
// messages of a long run of similar ones become one row that counts them.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/scheduler.hpp"
#include "wire/fc_header.hpp"

namespace sim {
struct Scenario;

/// The subject of a row; decides its colour.
enum class RowKind : std::uint8_t { Login, Naming, Setup, Data, Response, Teardown, Abort, Acknowledge, Other };
std::string_view to_string(RowKind kind);

/// A frame as the observer passes it on.
struct SeenFrame {
  runtime::TimeNs at = 0;
  std::size_t port = 0;   // position of the tapped port
  bool outbound = false;  // sent by that port, else received by it from a service of the fabric
  bool first = false;     // of its sequence
  bool last = false;
  std::uint32_t number = 0;  // by which faults of an exploration name it; 0: it has none
};

struct LadderRow {
  enum class Shape : std::uint8_t { Arrow, Gap, State };
  Shape shape = Shape::Arrow;
  RowKind row_kind = RowKind::Other;
  runtime::TimeNs at = 0;
  std::size_t from = 0, to = 0;         // lanes; State: both the same
  std::string text = {};                // Arrow: name and fields; State: the change
  std::uint64_t frames = 0, bytes = 0;  // Arrow and Gap; bytes: message data
  std::string note = {};                // what faults did to it
  std::uint64_t lost_frames = 0;
  std::uint32_t first_number = 0, last_number = 0;        // SeenFrame::number, of its frames; 0: they have none
  std::map<std::string_view, std::uint64_t> hidden = {};  // Gap: messages by name
};

class Ladder {
 public:
  struct Lane {
    std::string title, subtitle;  // "client", "010100 10.0.0.1"
  };

  explicit Ladder(const Scenario& scenario);
  /// Of other ports, whose addresses place() tells. `with_faults`: longer runs of similar messages are shown.
  Ladder(std::vector<Lane> ports, bool with_faults)
      : lanes_(std::move(ports)), port_count_(lanes_.size()), with_faults_(with_faults) {}
  /// The lane of that address is that of port `port`.
  void place(wire::FcId id, std::size_t port) { ports_.emplace(id.value, port); }
  /// Of whom it is; a service gets its lane with its first message.
  [[nodiscard]] std::size_t port_of(wire::FcId id) { return lane_of(id); }

  void frame(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field);
  /// A message that is no Fibre Channel frame, as FIP has them.
  void message(runtime::TimeNs at, wire::FcId from, wire::FcId to, std::string text);
  /// A message between two lanes that is no Fibre Channel frame: `row` with its text, kind, frames and bytes. Those of
  /// one signature are alike. Returns its row, which may be the gap that it goes into.
  std::size_t arrow(LadderRow row, const std::string& signature, std::string_view name);
  /// What a fault did to the message of that row.
  void note(std::size_t row, std::string_view note);
  /// A fault hit the frame with that header, which was seen before.
  void fault(const wire::FcHeader& header, std::string_view note, bool lost);
  /// The endpoint of workload `connection` at `port` changed its state.
  void state(runtime::TimeNs at, std::size_t port, std::string_view connection, std::string_view from,
             std::string_view to);

  /// The ports in the scenario's order, then the services in the order of their first message.
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  [[nodiscard]] std::size_t port_count() const { return port_count_; }
  [[nodiscard]] const std::vector<LadderRow>& rows() const { return rows_; }

 private:
  /// Rows with the same signature are alike.
  struct Run {
    std::uint64_t seen = 0, last_row = 0;
  };
  static constexpr std::size_t max_rows = 1500;      // of all; afterwards everything goes into one gap
  static constexpr std::size_t max_data_rows = 700;  // of messages and responses
  static constexpr std::uint64_t shown_of_run = 3,
                                 shown_of_run_with_faults = 20;  // which of them met one is worth seeing
  static constexpr std::uint64_t rows_apart = 40;                // a row like one that far above is worth showing

  std::size_t lane_of(wire::FcId id);
  void learn_address(std::size_t port, wire::FcId id);
  LadderRow arrow(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field);
  std::string text_of(const LadderRow& row, const wire::FcHeader& header, wire::Bytes data_field);
  void learn_exchange(const LadderRow& row, const wire::FcHeader& header, wire::Bytes data_field);
  [[nodiscard]] bool hides(const LadderRow& row, const std::string& signature);
  std::size_t add(LadderRow row, std::string_view name);

  std::vector<Lane> lanes_;
  std::size_t port_count_;
  std::map<std::uint32_t, std::size_t> services_;
  std::map<std::uint32_t, std::size_t> ports_;  // N_Port_ID -> lane
  std::vector<LadderRow> rows_;
  std::size_t data_rows_ = 0;
  std::uint64_t row_count_ = 0;  // with hidden ones
  std::map<std::string, Run> runs_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> open_;  // sequences under way -> row
  bool with_faults_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> recent_;  // with faults: the row of each sequence, the latest
  boost::unordered_flat_map<std::uint64_t, std::string_view> requests_;  // ELS and CT that wait for their answer
  boost::unordered_flat_map<std::uint64_t, std::string> exchanges_;      // what each began with
};

/// When each row was: where the digits do not tell it from the row before, how much later.
class RowTimes {
 public:
  explicit RowTimes(runtime::TimeNs start) : start_(start) {}
  [[nodiscard]] std::string text(runtime::TimeNs at);

 private:
  runtime::TimeNs start_;
  std::string last_text_;
  runtime::TimeNs last_at_ = 0;
  bool relative_ = false;
};

/// The diagram as lines of text, UTF-8: a column for each lane, the words at the right, cut at `columns` characters.
std::string to_text(const Ladder& ladder, std::string_view title, runtime::TimeNs start, std::size_t columns);
/// "×3 frames, 6.1 KiB"; empty: nothing to say.
std::string amount_text(const LadderRow& row);
/// "2 of them lost".
std::string note_text(const LadderRow& row);
/// "… 12 more FCVI_SEND_RQST · 24 frames, 24 KiB …"
std::string gap_text(const LadderRow& row);

/// The diagram as an SVG document. `title` may hold anything.
std::string to_svg(const Ladder& ladder, std::string_view title, runtime::TimeNs start);
/// Characters, not bytes, of UTF-8 text.
std::size_t characters(std::string_view text);
/// & < > " and control characters, escaped for XML.
std::string escape_xml(std::string_view text);
/// The main fields of a message, short: "id 00000001h, Reliable Delivery".
std::string short_fields(const wire::FcHeader& header, wire::Bytes data_field);
RowKind kind_of(const wire::FcHeader& header, wire::Bytes data_field);

}  // namespace sim

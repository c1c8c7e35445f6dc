// Links that an operator took down (fcvi-ctl link), and processes that wait for theirs to come up.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/drivers/doorbell.hpp"
#include "tools/fabricd/port_names.hpp"
#include "tools/fabricd/process_end.hpp"
#include "tools/fabricd/session.hpp"

namespace fabricd {

/// Reset: down, and up at once.
enum class LinkAction : std::uint8_t { Down, Up, Reset };
[[nodiscard]] std::string_view to_string(LinkAction action);
[[nodiscard]] std::optional<LinkAction> link_action_of(std::string_view word);

/// The process has said Hello, and gets no Welcome while its link is down.
class WaitingLink final : public Session {
 public:
  WaitingLink(SessionHost& service, std::shared_ptr<FrameStream> stream, const Hello& hello,
              runtime::drivers::DoorbellDescriptors doorbell)
      : Session(service, std::move(stream)), hello_(hello), doorbell_(std::move(doorbell)) {}
  [[nodiscard]] const Hello& hello() const { return hello_; }
  /// For whoever takes the link over: nothing of it is here any more.
  [[nodiscard]] runtime::drivers::DoorbellDescriptors take_doorbell() { return std::move(doorbell_); }
  using Session::shared_stream;
  /// Its link is up: it has its Welcome, or a Refusal.
  void bring_up();

 private:
  void frame_received(fc2::FramePtr) override { stream_closed("a frame while the link is down"); }
  void record_received(RecordKind, std::span<const std::uint8_t>) override {
    stream_closed("a record while the link is down");
  }
  void stream_closed(const std::string& reason) override;

  const Hello hello_;
  runtime::drivers::DoorbellDescriptors doorbell_;
};

/// A process comes back for each link that it lost: the next Hello of it is that of a link that is down.
class DownedLinks {
 public:
  struct Downed {
    explicit Downed(NamedPort named) : port(std::move(named)), process(port.process_id) {}
    NamedPort port;
    WatchedProcess process;
    WaitingLink* waiting = nullptr;  // nullptr: it has not come back, or not again
  };
  void add(NamedPort port);
  /// A link of that process that is down and for which none waits; nullptr: none.
  [[nodiscard]] Downed* without_waiting(std::uint32_t process_id);
  [[nodiscard]] std::vector<Downed*> called(std::string_view name);
  void remove(const Downed* downed);
  /// It waits no longer.
  void let_go(const WaitingLink& waiting);
  /// Those whose process has ended are forgotten.
  void forget_ended();
  [[nodiscard]] bool empty() const { return links_.empty(); }
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  std::deque<std::unique_ptr<Downed>> links_;
};

}  // namespace fabricd

// What a forged frame did to messages, as text, and what must hold whatever it was (FC-VI 8.4, VI-ARCH 2.5).
#pragma once
#include <utility>

#include "tests/fcvi/hostile_messages.hpp"
#include "tests/fcvi/hostile_outcome.hpp"

namespace support {

/// Letters for the error bits of a descriptor.
inline std::string describe_errors(std::uint32_t status) {
  static constexpr std::pair<std::uint32_t, char> bits[] = {
      {vi::status::format_error, 'f'},           {vi::status::protection_error, 'x'},
      {vi::status::length_error, 'l'},           {vi::status::partial_error, 'p'},
      {vi::status::transport_error, 't'},        {vi::status::rdma_protection_error, 'm'},
      {vi::status::remote_descriptor_error, 'd'}};
  std::string text;
  for (const auto& [bit, letter] : bits)
    if ((status & bit) != 0) text += letter;
  return text;
}

inline std::string_view abbreviated(fc2::Discard reason) {
  switch (reason) {
    case fc2::Discard::BadHeader: return "header";
    case fc2::Discard::WrongAddress: return "address";
    case fc2::Discard::UnknownType: return "type";
    case fc2::Discard::UnknownExchange: return "exchange";
    case fc2::Discard::WrongSequence: return "sequence";
    case fc2::Discard::BadPayload: return "payload";
    case fc2::Discard::UnexpectedIu: return "iu";
    default: return to_string(reason);
  }
}

inline std::string_view abbreviated(fcvi::Discard reason) {
  switch (reason) {
    case fcvi::Discard::UnknownHandle: return "handle";
    case fcvi::Discard::NotReceiving: return "closed";
    default: return to_string(reason);
  }
}

/// What the victim did since this was made, in few letters:
///   header, address, closed, iu, ...  discarded for that reason
///   in                                message data, or a READ_RQST, was taken
///   R+, R-pt, S+, S-t                 a receive or send ended: well, or with these error bits (describe_errors;
///                                     flushed: not noted)
///   E, E40                            the endpoint went to Error; with a DISCONNECT_RQST of that reason code
///   told                              the application was told of an error that moved nothing
///   resp, resp-, data, ABTS, LOGO     were sent: SEND_RESP or WRITE_RESP, with an error, READ_RESP, ...
///   !                                 class 2: ACK with Abort Sequence Condition 01b
///   ^                                 class 2: no ACK
/// Nothing: it waits.
class MessageOutcome {
 public:
  explicit MessageOutcome(BesiegedMessages& here)
      : here_(here), frames_(here), before_discards_(here.victim()), before_(seen()) {}

  [[nodiscard]] std::string text() const {
    const Seen now = seen();
    const bool failed = now.in_error && !before_.in_error;
    std::vector<std::string> words = failed ? std::vector{"E" + disconnect_reason()} : discarded();
    if (now.taken != before_.taken) words.emplace_back("in");
    for (const std::string& word : sent(failed)) words.push_back(word);
    if (!failed && now.errors != before_.errors) words.emplace_back("told");
    add_ended(words, "R", here_.receives, before_.receives);
    add_ended(words, "S", here_.sends, before_.sends);
    std::string text;
    for (const std::string& word : words) text += (text.empty() || text.ends_with(" ") ? "" : " ") + word;
    return text.empty() && !here_.is_class_2() ? text : text + acknowledgement();
  }
  [[nodiscard]] bool moved() const {
    const Seen now = seen();
    return frames_.moved() || now.taken != before_.taken || now.receives != before_.receives ||
           now.sends != before_.sends;
  }
  [[nodiscard]] std::uint64_t discards() const { return frames_.discards(); }
  /// How every descriptor ended that did, and the endpoint.
  [[nodiscard]] static std::string end_of(BesiegedMessages& here) {
    const bool in_error = here.besieged().endpoint_state_name() == "Error";
    std::vector<std::string> words{in_error ? "E" : here.victim().errors.empty() ? "" : "told"};
    add_ended(words, "R", here, here.receives, {});
    add_ended(words, "S", here, here.sends, {});
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }

 private:
  struct Seen {
    bool in_error = false;
    std::size_t errors = 0;
    std::uint64_t taken = 0;
    std::vector<std::uint32_t> receives, sends;
  };
  [[nodiscard]] Seen seen() const {
    const fcvi::ProviderCounters& counters = here_.victim().provider.counters();
    return {here_.besieged().endpoint_state_name() == "Error", here_.victim().errors.size(),
            counters.data_frames_received + counters.messages_received, statuses(here_.receives),
            statuses(here_.sends)};
  }
  [[nodiscard]] std::vector<std::uint32_t> statuses(const std::vector<std::uint64_t>& descriptors) const {
    std::vector<std::uint32_t> all;
    for (const std::uint64_t at : descriptors) all.push_back(here_.victim().status(at));
    return all;
  }
  void add_ended(std::vector<std::string>& words, const char* queue, const std::vector<std::uint64_t>& descriptors,
                 const std::vector<std::uint32_t>& before) const {
    add_ended(words, queue, here_, descriptors, before);
  }
  static void add_ended(std::vector<std::string>& words, const char* queue, BesiegedMessages& here,
                        const std::vector<std::uint64_t>& descriptors, const std::vector<std::uint32_t>& before) {
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      const std::uint32_t status = here.victim().status(descriptors[i]);
      const bool is_new = (status & vi::status::done) != 0 && (before.empty() || before[i] != status);
      if (!is_new || (status & vi::status::flushed) != 0) continue;
      const std::string errors = describe_errors(status);
      words.push_back(queue + (errors.empty() ? "+" : "-" + errors));
    }
  }
  [[nodiscard]] std::vector<std::string> discarded() const {
    std::vector<std::string> words;
    before_discards_.for_each_since(here_.victim(), [&](auto reason) { words.emplace_back(abbreviated(reason)); });
    return words;
  }
  /// Beside what goes on anyway, what tells of an Error, and ACKs.
  [[nodiscard]] std::vector<std::string> sent(bool failed) const {
    std::vector<std::string> words;
    const auto add = [&](const std::string& word) {
      if (words.empty() || words.back() != word) words.push_back(word);
    };
    for (const LoggedFrame& frame : here_.log.frames()) {
      if (!frame.outbound || wire::is_link_control(frame.header.r_ctl)) {
        if (frame.outbound && !frame.is(wire::RCtl::ack_1)) add(std::string(to_string(frame.header.r_ctl)));
        continue;
      }
      const unsigned opcode = frame.header.type == wire::Type::fc_vi ? frame.data[4] : 0;
      if (frame.header.type == wire::Type::els)
        add("LOGO");
      else if (frame.is(wire::RCtl::abts))
        failed ? void() : add("ABTS");
      else if (opcode == 0x08 || opcode == 0x09 || (opcode == 0x0A && (frame.data[5] & 1) != 0))
        add((frame.data[5] & 1) != 0 ? "resp-" : "resp");
    }
    return words;
  }
  [[nodiscard]] std::string disconnect_reason() const {
    std::ostringstream text;
    for (const LoggedFrame& frame : here_.log.frames())
      if (frame.outbound && frame.header.type == wire::Type::fc_vi && frame.data[4] == 0x12)
        text << std::hex << static_cast<unsigned>(frame.data[13]);
    return text.str();
  }
  [[nodiscard]] std::string acknowledgement() const {
    if (!here_.is_class_2()) return "";
    const LoggedFrame* ack =
        here_.log.find([](const LoggedFrame& frame) { return frame.outbound && frame.is(wire::RCtl::ack_1); });
    if (ack == nullptr) return "^";
    return (ack->header.f_ctl & wire::f_ctl::abort_condition_mask) != 0 ? "!" : "";
  }
  BesiegedMessages& here_;
  const Outcome frames_;
  const Discards before_discards_;
  const Seen before_;
};

/// What must be true at the end, however wrong a frame was.
class MessageChecks {
 public:
  struct Forged {
    bool first = false;     // it began a message: what it says holds for all of it
    bool numbered = false;  // as another message: that one's turn is its turn
  };
  MessageChecks(BesiegedMessages& here, const Forged& forged) : here_(here), forged_(forged) {}
  void expect_all() const {
    expect_receives();
    expect_writes();
    expect_reads();
    expect_read_responses();
    expect_each_once(here_.receives, here_.victim().receives_completed);
    expect_each_once(here_.sends, here_.victim().sends_completed);
  }

 private:
  using B = BesiegedMessages;
  static constexpr std::uint32_t messages = 9;  // more than were sent
  static bool is_well(std::uint32_t status) {
    return (status & (vi::status::done | vi::status::error_mask)) == vi::status::done;
  }
  static bool holds(const std::uint8_t* at, std::uint32_t message, std::uint32_t from, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i)
      if (at[i] != B::content(message, from + i)) return false;
    return true;
  }
  static bool is_clear(const std::uint8_t* at, std::uint32_t bytes) {
    return std::all_of(at, at + bytes, [](std::uint8_t byte) { return byte == 0; });
  }

  /// VI-ARCH 2.5.1: what a descriptor calls good is a whole message, once, and in order.
  void expect_receives() const {
    // Unreliable Delivery owes no order where the fabric keeps none (ruling 192).
    const bool any_order = here_.client_vi->attributes().reliability == vi::ReliabilityLevel::UnreliableDelivery &&
                           !here_.victim().port.in_order();
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < here_.receives.size(); ++i) {
      const vi::ControlSegment control = here_.victim().control(here_.receives[i]);
      if (!is_well(control.status)) continue;
      const bool written = (control.status & vi::status::op_mask) == vi::status::op_remote_rdma_write;
      const std::uint8_t* at = here_.victim().bytes(written ? B::write_target : B::receive_at + i * B::slot);
      std::uint32_t message = forged_.numbered || any_order ? 1 : last + 1;
      while (message < messages && !holds(at, message, 0, control.length_bytes)) ++message;
      EXPECT_TRUE(message < messages || (written && forged_.first))
          << "receive " << i << " of " << control.length_bytes << " bytes";
      EXPECT_TRUE(control.length_bytes == B::part || control.length_bytes == B::parts * B::part || forged_.first)
          << control.length_bytes;
      const bool immediate = (control.status & vi::status::immediate) != 0;
      EXPECT_TRUE(forged_.first || (immediate && control.immediate_data == B::immediate + message))
          << std::hex << control.immediate_data;
      last = message;
    }
  }
  /// FC-VI 5.8.7: each byte in its place or nowhere.
  void expect_writes() const {
    const std::uint8_t* target = here_.victim().bytes(B::write_target);
    const auto is_right = [&](std::uint32_t at) {
      for (std::uint32_t message = 1; message < messages; ++message)
        if (target[at] == B::content(message, at)) return true;
      return target[at] == 0;
    };
    for (std::uint32_t at = 0; at < B::parts * B::part && !forged_.first; ++at) EXPECT_TRUE(is_right(at)) << at;
    EXPECT_TRUE(is_clear(target - B::part, B::part));
    EXPECT_TRUE(is_clear(target + B::parts * B::part + 64, B::slot));
  }
  void expect_reads() const {
    const std::uint8_t* target = here_.victim().bytes(B::read_target);
    for (const std::uint64_t send : here_.sends) {
      const bool read = (here_.victim().control(send).control & vi::control::op_mask) == vi::control::op_rdma_read;
      EXPECT_TRUE(!read || !is_well(here_.victim().status(send)) ||
                  holds(target, B::source_message, 0, B::parts * B::part));
    }
    EXPECT_TRUE(is_clear(target + B::parts * B::part, B::slot));
  }
  /// FC-VI 5.6, 5.8.7: the data that the peer asked for, without a gap.
  void expect_read_responses() const {
    std::optional<std::uint32_t> next;
    for (const LoggedFrame& frame : here_.log.frames()) {
      const bool ours = frame.outbound && frame.is(wire::RCtl::solicited_data) && frame.data[4] == 0x0A;
      if (!ours || here_.reads_of() != wire::load_big<4>(frame.data.data() + 8) || (frame.data[5] & 1) != 0) continue;
      const auto bytes = static_cast<std::uint32_t>(frame.data.size() - frame.header.fill_bytes() - 32);
      EXPECT_EQ(frame.header.parameter, next.value_or(frame.header.parameter));
      EXPECT_TRUE(holds(frame.data.data() + 32, B::source_message, frame.header.parameter, bytes));
      next = frame.header.parameter + bytes;
    }
  }
  /// VI-ARCH 6.4: a descriptor completes once.
  void expect_each_once(const std::vector<std::uint64_t>& descriptors, int completed) const {
    const auto is_done = [&](std::uint64_t at) { return (here_.victim().status(at) & vi::status::done) != 0; };
    EXPECT_EQ(std::count_if(descriptors.begin(), descriptors.end(), is_done), completed);
  }
  BesiegedMessages& here_;
  const Forged forged_;
};

}  // namespace support

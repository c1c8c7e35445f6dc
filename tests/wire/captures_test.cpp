// Frames of real HBAs, switches and the Linux initiator: every one parses down to its message class, and the
// message writes the same bytes.
#include <filesystem>
#include <map>
#include <tuple>

#include "capture_file.hpp"
#include "expect.hpp"
#include "wire/describe.hpp"
#include "wire/fcoe.hpp"
#include "wire/messages.hpp"
#include "tests/support/source_dir.hpp"

namespace wire::test {
namespace {

struct Counts {
  int frames = 0, fip = 0, els = 0, ct = 0;
  int cut = 0;       // not whole in the capture: skipped
  int raw = 0;       // protocols of others (FCP): header and raw payload
  int trailing = 0;  // bytes beyond the message that the class does not know
  int unknown = 0;   // ELS, CT or FIP without a class of its own
};

/// One capture. Accepts are parsed as the request of their exchange asks.
class Replay {
 public:
  Counts counts;

  void frame(const CapturedFrame& frame) {
    ++counts.frames;
    if (frame.cut) {
      ++counts.cut;
      return;
    }
    const auto ethernet = EthernetHeader::parse(frame.bytes);
    ASSERT_TRUE(ethernet.has_value());
    SCOPED_TRACE("frame " + std::to_string(counts.frames) + ": " + describe_ethernet(frame.bytes));
    EXPECT_EQ(describe_ethernet(frame.bytes).find("malformed"), std::string::npos);
    std::vector<std::uint8_t> out(frame.bytes.size(), 0xA5);
    if (ethernet->type == EtherType::fip)
      fip_frame(*ethernet, frame.bytes, out);
    else
      fcoe_frame(frame.bytes, out);
    EXPECT_EQ(out, frame.bytes);
  }

 private:
  using Exchange = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;  // originator, responder, OX_ID
  std::map<Exchange, els::Command> els_requests_;
  std::map<Exchange, ct::Command> ct_requests_;

  void fip_frame(const EthernetHeader& ethernet, Bytes bytes, MutableBytes out) {
    ++counts.fip;
    const auto message = fip::FipMessage::parse(bytes.subspan(EthernetHeader::size()));
    ASSERT_TRUE(message.has_value()) << to_string(message.error());
    if (message->find<fip::UnknownDescriptor>() != nullptr) ++counts.unknown;
    auto copy = *message;
    for (fip::Descriptor& descriptor : copy.descriptors)
      if (auto* inner = std::get_if<fip::EncapsulatedFrame>(&descriptor)) inner->fc_frame = rewritten(inner->fc_frame);
    ethernet.write(out);
    copy.write(out.subspan(EthernetHeader::size()));
  }

  void fcoe_frame(Bytes bytes, MutableBytes out) {
    const auto fcoe = fcoe::decapsulate(bytes);
    ASSERT_TRUE(fcoe.has_value()) << to_string(fcoe.error());
    fcoe::encapsulate(fcoe->ethernet.destination, fcoe->ethernet.source, fcoe->sof, rewritten(fcoe->fc_frame),
                      fcoe->eof, out);
  }

  /// The frame, parsed and written again.
  std::vector<std::uint8_t> rewritten(Bytes fc_frame) {
    const auto view = FcFrameView::parse(fc_frame);
    EXPECT_TRUE(view.has_value());
    std::vector<std::uint8_t> out(fc_frame.begin(), fc_frame.end());  // fill bytes stay as they came
    std::fill_n(out.begin(), FcHeader::size() + view->data_field.size(), std::uint8_t{0xA5});
    view->header.write(out);
    payload(view->header, view->data_field, MutableBytes(out).subspan(FcHeader::size()));
    return out;
  }

  void payload(const FcHeader& header, Bytes data, MutableBytes out) {
    if (header.type == Type::els) return els_payload(header, data, out);
    if (header.type == Type::ct) return ct_payload(header, data, out);
    ++counts.raw;
    std::copy(data.begin(), data.end(), out.begin());
  }

  static Exchange exchange_of(const FcHeader& header) {
    const bool responder = header.has(f_ctl::exchange_responder);
    // The D_ID of a FLOGI is the F_Port's, the S_ID 0; its accept comes from elsewhere in VN2VN.
    const FcId originator = responder ? header.d_id : header.s_id, other = responder ? header.s_id : header.d_id;
    const bool login = other == well_known::f_port;
    return {login ? 0 : originator.value, other.value, header.ox_id.value};
  }

  void els_payload(const FcHeader& header, Bytes data, MutableBytes out) {
    ++counts.els;
    const auto command = static_cast<els::Command>(data[0]);
    if (header.r_ctl == RCtl::els_request) {
      els_requests_[exchange_of(header)] = command;
      bool found = false;
      for_each_message<ElsRequests>([&]<class Message>(std::type_identity<Message>) {
        if (els::has_command<Message>(command)) found = rewrite<Message>(data, out);
      });
      return count_found(found);
    }
    ASSERT_EQ(header.r_ctl, RCtl::els_reply);
    if (command == els::Command::ls_rjt) return count_found(rewrite<els::LsRjt>(data, out));
    ASSERT_TRUE(els_requests_.contains(exchange_of(header)));
    els_accept(els_requests_[exchange_of(header)], data, out);
  }

  void els_accept(els::Command request, Bytes data, MutableBytes out) {
    if (els::has_command<els::Login>(request)) return count_found(rewrite<els::Login>(data, out));
    if (request == els::Command::adisc) return count_found(rewrite<els::Adisc>(data, out));
    if (request == els::Command::prli) return count_found(rewrite<els::Prli>(data, out));
    if (request == els::Command::rtv) return count_found(rewrite<els::RtvAcc>(data, out));
    count_found(rewrite<els::LsAcc>(data, out));
  }

  void ct_payload(const FcHeader& header, Bytes data, MutableBytes out) {
    ++counts.ct;
    const auto preamble = ct::CtHeader::parse(data);
    ASSERT_TRUE(preamble.has_value());
    if (preamble->command == ct::Command::reject) return count_found(rewrite<ct::CtReject>(data, out));
    if (preamble->command == ct::Command::accept) {
      ASSERT_TRUE(ct_requests_.contains(exchange_of(header)));
      return ct_accept(ct_requests_[exchange_of(header)], data, out);
    }
    ct_requests_[exchange_of(header)] = preamble->command;
    bool found = false;
    for_each_message<CtRequests>([&]<class Message>(std::type_identity<Message>) {
      if (Message::command == preamble->command) found = rewrite<Message>(data, out);
    });
    count_found(found);
  }

  void ct_accept(ct::Command request, Bytes data, MutableBytes out) {
    using enum ct::Command;
    if (request == gpn_ft || request == gnn_ft) return count_found(rewrite<ct::GpnFtAccept>(data, out));
    if (request == gid_ft || request == gid_ipp || request == gid_nn)
      return count_found(rewrite<ct::PortIdListAccept>(data, out));
    if (request == gspn_id || request == gsnn_nn) return count_found(rewrite<ct::SymbolicNameAccept>(data, out));
    count_found(rewrite<ct::CtAccept>(data, out));
  }

  template <class Message>
  bool rewrite(Bytes data, MutableBytes out) {
    const auto message = Message::parse(data);
    EXPECT_TRUE(message.has_value()) << Message::name << " " << to_string(message.error());
    if (!message) return false;
    message->write(out);
    if (message->size() < data.size()) {
      ++counts.trailing;
      std::copy(data.begin() + static_cast<long>(message->size()), data.end(),
                out.begin() + static_cast<long>(message->size()));
    }
    return true;
  }

  void count_found(bool found) { counts.unknown += found ? 0 : 1; }
};

Counts replay(const std::string& path) {
  Replay replay;
  for (const CapturedFrame& frame : read_capture(path)) replay.frame(frame);
  return replay.counts;
}

const std::string source_dir = support::source_dir();

TEST(Captures, linux_fabric_login) {
  const Counts counts = replay(source_dir + "/tests/data/linux-fabric-login.pcap");
  EXPECT_EQ(counts.frames, 37);
  EXPECT_EQ(counts.fip, 21);
  EXPECT_EQ(counts.els, 6) << "two FLOGIs in FIP, PLOGI, SCR and their accepts";
  EXPECT_EQ(counts.ct, 12);
  EXPECT_EQ(counts.cut + counts.raw + counts.trailing + counts.unknown, 0);
}

TEST(Captures, linux_vn2vn) {
  const Counts counts = replay(source_dir + "/tests/data/linux-vn2vn.pcap");
  EXPECT_EQ(counts.frames, 31);
  EXPECT_EQ(counts.fip, 21);
  EXPECT_EQ(counts.els, 14);
  EXPECT_EQ(counts.ct, 0);
  EXPECT_EQ(counts.cut + counts.raw + counts.trailing + counts.unknown, 0);
}

// Captures that may not be copied into this tree.
std::string outside_capture(const std::string& name) { return source_dir + "/../shared/captures/" + name; }

TEST(Captures, emulex_and_cisco_fcoe) {
  const std::string path = outside_capture("fcoe-t11.pcap");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "fcoe-t11.pcap is not in ../shared/captures";
  const Counts counts = replay(path);
  EXPECT_EQ(counts.frames, 69);
  EXPECT_EQ(counts.raw, 33) << "FCP";
  EXPECT_EQ(counts.cut, 0);
  EXPECT_EQ(counts.unknown, 0);
  EXPECT_EQ(counts.trailing, 1) << "the adapter sends RFF_ID with 24 stray bytes";
}

TEST(Captures, fip_advertisements) {
  const std::string path = outside_capture("fip-adv.cap.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "fip-adv.cap.gz is not in ../shared/captures";
  const Counts counts = replay(path);
  EXPECT_EQ(counts.frames, 40);
  EXPECT_EQ(counts.cut + counts.raw + counts.trailing, 0);
  EXPECT_EQ(counts.unknown, 4)
      << "advertisements of before the standard: fabric descriptor of three words, kept as it came";
}

}  // namespace
}  // namespace wire::test

// A peer-to-peer request of ours in each state of its set-up and arbitration, and a peer whose further frames are
// forged (FC-VI 5.3.3, 5.3.4, C.4, Table 2).
#pragma once
#include "tests/fcvi/hostile_situations.hpp"

namespace support {

class BesiegedPeer : public Besieged {
 public:
  using Besieged::Besieged;
  // --- situations ------------------------------------------------------------------------------------------------
  void requesting() { post(true), next_ = Opcode::connect_resp1; }
  void requesting_higher() { post(false), next_ = Opcode::connect_resp1; }
  /// Nobody waited at the peer; we do.
  void waiting() { requesting(), refuse(0x03), next_ = Opcode::connect_rqst; }
  /// Crossing requests: the winner holds the peer's, the loser accepts it.
  void holding() { requesting(), take_rqst(); }
  void held_aborted() { holding(), inject(abts_of_theirs()); }
  void accepting() { waiting(), take_rqst(), next_ = Opcode::connect_resp2; }
  void accepting_higher() { requesting_higher(), take_rqst(), next_ = Opcode::connect_resp2; }
  void peer_await_resp3() { requesting(), take(Opcode::connect_resp1); }
  void arbitrated() { holding(), take(Opcode::connect_resp1); }
  void connected_by_ours() { peer_await_resp3(), take(Opcode::connect_resp3); }
  void connected_by_theirs() { accepting(), take(Opcode::connect_resp2); }
  /// The first attempt ended by a transport error; the second is out.
  void retrying() {
    requesting(), refuse(0x22), our_seq_cnt_ = 0;
    const LoggedFrame* abts =
        log.find([](const LoggedFrame& frame) { return frame.outbound && frame.is(wire::RCtl::abts); });
    ASSERT_NE(abts, nullptr);
    inject(answer_to(abts->header));
  }
  void rejected() { requesting(), refuse(0x04), next_ = none; }

  // --- frames ----------------------------------------------------------------------------------------------------
  /// As the peer would send it: RESP1 and RESP3 for our request, RESP2 for its own, which has another
  /// FCVI_HANDLE each time.
  [[nodiscard]] ForgedFrame right(Opcode opcode) {
    ForgedFrame frame = Besieged::right(opcode);
    const bool ours = opcode == Opcode::connect_resp1 || opcode == Opcode::connect_resp3;
    if (opcode == Opcode::connect_rqst) frame.data[5] = 0x02;
    if (ours) frame.header.ox_id = our_ox_id_, frame.header.seq_cnt = {our_seq_cnt_}, frame.set_word(7, our_id_);
    if (ours && is_retry_) frame.data[5] |= 4;
    if (opcode == Opcode::connect_resp2)
      frame.header.ox_id = their_ox_id_, frame.header.seq_cnt = {1}, frame.set_word(7, their_id_);
    return frame;
  }
  void inject(const ForgedFrame& forged) {
    put(forged);
    fabric.run_for(100 * runtime::microsecond);
    for (const LoggedFrame& frame : log.frames())
      if (is_rqst(frame)) note(frame);
  }
  /// What the peer would send next; after what `replaced` it, if it is that.
  void go_on(const ForgedFrame& sent, bool replaced) {
    if (replaced && sent.data[4] == static_cast<unsigned>(next_)) {
      if (next_ == Opcode::connect_rqst) their_ox_id_ = sent.header.ox_id, their_id_ = sent.word(7);
      advance();
    }
    while (next_ != none) next_ == Opcode::connect_rqst ? (take_rqst(), advance()) : take(next_);
  }
  /// By FC-2 it is a sequence of the peer, of a set-up's exchange, whatever FC-VI reads in it.
  [[nodiscard]] bool is_of_exchange(const ForgedFrame& frame) {
    const bool ours = frame.header.ox_id == our_ox_id_ && frame.header.has(wire::f_ctl::exchange_responder);
    const bool theirs = frame.header.ox_id == their_ox_id_ && !frame.header.has(wire::f_ctl::exchange_responder);
    const bool control =
        frame.header.r_ctl == wire::RCtl::solicited_control || frame.header.r_ctl == wire::RCtl::unsolicited_control;
    const bool whole = frame.eof == wire::Eof::t && (frame.header.df_ctl & ~wire::df_ctl::device_header_mask) == 0;
    return (ours || theirs) && control && whole && frame.header.d_id == victim().port.n_port_id() &&
           frame.header.s_id == peer().port.n_port_id() && frame.header.type == wire::Type::fc_vi;
  }

  Connect call;

 private:
  static constexpr Opcode none = Opcode::send_rqst;
  void post(bool victim_is_lower) {
    Host& host = victim_is_lower ? *client : *server;
    vi::Vi& vi = victim_is_lower ? *client_vi : *server_vi;
    const Host& other = victim_is_lower ? *server : *client;
    EXPECT_EQ(host.provider.connect_peer_request(vi, host.net("x"), other.net(discriminator), runtime::never, call),
              vi::Return::Success);
    note(catch_rqst(host));
    besiege(victim_is_lower);
  }
  static bool is_rqst(const LoggedFrame& frame) {
    return frame.outbound && frame.header.type == wire::Type::fc_vi &&
           frame.data[4] == static_cast<unsigned>(Opcode::connect_rqst);
  }
  void note(const LoggedFrame& rqst) {
    if (our_ox_id_ != rqst.header.ox_id) our_seq_cnt_ = 0;
    our_ox_id_ = rqst.header.ox_id;
    our_id_ = wire::load_big<4>(rqst.data.data() + 28);
    is_retry_ = (rqst.data[5] & 0x10) != 0;
  }
  /// It is what the peer is to send.
  void take(Opcode opcode) {
    inject(right(opcode));
    advance();
  }
  void advance() {
    if (next_ == Opcode::connect_resp1) ++our_seq_cnt_;
    next_ = next_ == Opcode::connect_rqst    ? Opcode::connect_resp2
            : next_ == Opcode::connect_resp1 ? Opcode::connect_resp3
                                             : none;
  }
  void refuse(unsigned reason) {
    ForgedFrame frame = right(Opcode::connect_resp1);
    frame.data[5] |= 1;
    frame.set_word(3, reason << 16);
    frame.set_word(10, 0xFFFFFFFF);
    ++our_seq_cnt_;
    inject(frame);
  }
  void take_rqst() {
    const ForgedFrame frame = right(Opcode::connect_rqst);
    their_ox_id_ = frame.header.ox_id, their_id_ = frame.word(7);
    inject(frame);
  }
  [[nodiscard]] ForgedFrame abts_of_theirs() { return as_abts(right(Opcode::connect_resp2)); }
  [[nodiscard]] ForgedFrame answer_to(const wire::FcHeader& abts) {
    ForgedFrame frame;
    frame.header = abts;
    frame.header.r_ctl = wire::RCtl::ba_acc;
    std::swap(frame.header.d_id, frame.header.s_id);
    frame.header.f_ctl = 0x980000;
    frame.data.resize(12);
    return frame;
  }
  Opcode next_ = none;  // what the peer is to send
  wire::OxId our_ox_id_{}, their_ox_id_{0x6666};
  std::uint32_t our_id_ = 0, their_id_ = 0;
  std::uint16_t our_seq_cnt_ = 0;  // of the peer, in the exchange of our request
  bool is_retry_ = false;
};

}  // namespace support

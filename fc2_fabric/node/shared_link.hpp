// Several N_Ports on one link (N_Port_ID virtualization, FC-LS): one logs in by FLOGI, the others, once it is logged
// in, by FDISC, one after the other. Each has its own N_Port_ID, names, logins and exchanges.
#pragma once
#include <memory>
#include <vector>

#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/n_port.hpp"

namespace fc2 {

class SharedLink final : public FrameReceiver, public LinkUser, private OutputListener {
 public:
  /// `base` logs in by FLOGI. Attached as a whole: Switch::attach(SharedLink&).
  SharedLink(FramePool& pool, NPort& base);
  ~SharedLink();
  SharedLink(const SharedLink&) = delete;
  SharedLink& operator=(const SharedLink&) = delete;

  [[nodiscard]] NPort& base() { return base_->port; }
  /// A port whose configuration says virtual_n_port. It logs in when the link can. Must outlive the link, or be
  /// removed.
  void add(NPort& port);
  /// Its link goes down, without a LOGO: log it out before, if the fabric should know.
  void remove(NPort& port);
  /// Fabric logout of the base, which ends those of all others.
  void log_out();

  /// Whoever attaches it.
  void set_end(LinkEnd& end) { end_ = &end; }
  void link_active() override;
  /// FC-VI 7.7.5: each of them waits to log in again.
  void link_offline() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override { return base_->port.config().rows; }
  /// The link is unplugged: all are logged out.
  void link_down();
  void receive(FramePtr frame) override;

 private:
  // A port's view of the link: sends into the one output, and waits here where others were faster.
  class Member final : public FrameOutput, public PortListener {
   public:
    Member(SharedLink& shared, NPort& n_port);
    ~Member();
    void send(FramePtr frame) override;
    void output_is_free();
    void link_up();
    void link_interrupted();
    void link_down();
    [[nodiscard]] bool is_up() const { return up_; }
    [[nodiscard]] std::uint16_t own_bb_credit() const override { return shared_.end_->output().own_bb_credit(); }
    void set_bb_credit(std::uint16_t of_far_end) override;
    NPort& port;

   private:
    void fabric_logged_in() override { shared_.login_ended(*this, true); }
    void fabric_login_failed() override { shared_.login_ended(*this, false); }
    void remote_port_logged_in(RemotePort&) override {}
    void remote_port_login_failed(RemotePort&) override {}
    void remote_port_logged_out(RemotePort&) override {}

    SharedLink& shared_;
    FrameQueue waiting_;
    bool up_ = false;
  };

  void output_resumed() override;
  void login_ended(Member& member, bool logged_in);
  void log_in_next();
  [[nodiscard]] Member& addressee(wire::FcId d_id, wire::FcId s_id);

  FramePool& pool_;
  LinkEnd* end_ = nullptr;
  bool active_ = false;
  std::vector<std::unique_ptr<Member>> virtual_;
  std::unique_ptr<Member> base_;
  Member* logging_in_ = nullptr;  // whose FDISC is unanswered: what comes for nobody is its answer
};

}  // namespace fc2

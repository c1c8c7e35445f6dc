// FC-4 frames of a port that has accepted our PLOGI, as it may, but whose LS_ACC they overtook: on an out-of-order
// fabric they wait for it (FC-VI 5.6, 7.7.2, 8.1). They are dropped when the login comes to nothing, or is asked for or
// accepted anew: that ends what the port began under the one before. Once PLOGI was repeated they may be of that one,
// and nothing waits.
#pragma once
#include <map>
#include <vector>

#include "fc2_fabric/frame/frame_receiver.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "fc2_fabric/node/exchange_user.hpp"

namespace fc2 {

class FramesBeforeLogin {
 public:
  FramesBeforeLogin(Scheduler& scheduler, FrameReceiver& port) : scheduler_(scheduler), port_(port) {}
  /// PLOGI goes out.
  void asked(wire::FcId peer);
  /// Takes the frame over. False: as many wait as may, or it is none of those.
  bool keep(const ReceivedFrame& frame);
  /// LS_ACC came: the port's frames are received, behind what is under way.
  void logged_in(wire::FcId peer);
  void forget(wire::FcId peer);

 private:
  static constexpr std::size_t limit = 64;  // first frames of set-ups, which are asked for one by one
  struct Kept {
    wire::FcId peer;
    FramePtr frame;
    bool due = false;
  };
  void deliver();
  void drop_of(wire::FcId peer);
  Scheduler& scheduler_;
  FrameReceiver& port_;
  std::map<std::uint32_t, bool> repeated_;  // of ports whose LS_ACC is to come: PLOGI went out more than once
  std::vector<Kept> kept_;
  Timer<FramesBeforeLogin, &FramesBeforeLogin::deliver> delivery_{*this};
};

}  // namespace fc2

// Shared receive queues (ibv_create_srq(3)): buffers for the Sends of several queue pairs, first come, first served.
#pragma once
#include <boost/circular_buffer.hpp>

#include "verbs/memory.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {

class SharedReceives final : public ibv_srq {
 public:
  /// Or errno: EINVAL beyond what a queue may have, ENOMEM beyond what the device has.
  [[nodiscard]] static boost::system::result<SharedReceives*> make(ProtectionDomain& domain,
                                                                   const ibv_srq_init_attr& wanted);
  /// Pre: no queue pair uses it.
  ~SharedReceives();
  static SharedReceives& of(ibv_srq* queue) { return static_cast<SharedReceives&>(*queue); }

  // --- the program, any thread, outside. 0, or errno.
  int post(ibv_recv_wr* request, ibv_recv_wr** bad);
  /// IBV_SRQ_MAX_WR: room for fewer than are posted is refused; IBV_SRQ_LIMIT: arms the event.
  int modify(const ibv_srq_attr& attributes, int mask);
  [[nodiscard]] ibv_srq_attr query() const;
  [[nodiscard]] Acknowledgements& events() { return events_; }
  void add_user() { ++users_; }
  void remove_user() { --users_; }
  [[nodiscard]] bool is_used() const { return users_ != 0; }

  // --- queue pairs, inside
  /// For a Send that begins; the oldest one. Its place is free from now on. Nothing: none is posted.
  [[nodiscard]] std::optional<iwarp::ReceiveRequest> take();

 private:
  SharedReceives(ProtectionDomain& domain, const ibv_srq_init_attr& wanted, Place place);
  [[nodiscard]] int post_one(const ibv_recv_wr& request);
  void tell_limit();

  const Place place_;
  ProtectionDomain& domain_;
  const std::uint32_t most_pieces_;
  std::uint32_t depth_, limit_;                            // limit_ 0: no event
  boost::circular_buffer<iwarp::ReceiveRequest> waiting_;  // grows up to depth_
  std::atomic<int> users_{0};
  Acknowledgements events_;
};

}  // namespace verbs
#pragma GCC visibility pop

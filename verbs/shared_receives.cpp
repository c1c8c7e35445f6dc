#include "verbs/shared_receives.hpp"

#include <algorithm>

#include "verbs/pieces.hpp"

namespace verbs {
using runtime::CoreSection;

boost::system::result<SharedReceives*> SharedReceives::make(ProtectionDomain& domain, const ibv_srq_init_attr& wanted) {
  Device& device = Context::of(domain.context).device();
  const std::size_t most = device.process().configuration().depth;
  const ibv_srq_attr& attributes = wanted.attr;
  if (attributes.max_wr == 0 || attributes.max_wr > most || attributes.max_sge > Limits::sges)
    return boost::system::error_code(EINVAL, boost::system::system_category());
  auto place = Place::take(device.counts().shared_receives, Limits::objects);
  if (!place) return boost::system::error_code(ENOMEM, boost::system::system_category());
  return new SharedReceives(domain, wanted, std::move(*place));
}

/// srq_limit does not count here (ibv_create_srq(3)).
SharedReceives::SharedReceives(ProtectionDomain& domain, const ibv_srq_init_attr& wanted, Place place)
    : ibv_srq{}, place_(std::move(place)), domain_(domain), most_pieces_(std::max(wanted.attr.max_sge, 1U)),
      depth_(wanted.attr.max_wr), limit_(0) {
  ibv_srq::context = domain.context;
  srq_context = wanted.srq_context;
  pd = &domain;
  domain_.add_user();
}

SharedReceives::~SharedReceives() {
  Context& of = Context::of(ibv_srq::context);
  {
    const CoreSection section(of.host());
    of.events().remove_if([this](const AsyncEvent& one) { return one.source == &events_; });
  }
  events_.wait_for_all();
  domain_.remove_user();
}

int SharedReceives::post(ibv_recv_wr* request, ibv_recv_wr** bad) {
  const CoreSection section(Context::of(ibv_srq::context).host());
  for (; request != nullptr; request = request->next) {
    *bad = request;
    if (const int error = post_one(*request); error != 0) return error;
  }
  return 0;
}

int SharedReceives::post_one(const ibv_recv_wr& request) {
  if (request.num_sge < 0 || request.num_sge > static_cast<int>(most_pieces_)) return EINVAL;
  if (waiting_.size() >= depth_) return ENOMEM;
  if (waiting_.full()) waiting_.set_capacity(std::min<std::size_t>(depth_, 2 * waiting_.capacity() + 16));
  waiting_.push_back({request.wr_id, pieces_of(request.sg_list, request.num_sge)});
  return 0;
}

std::optional<iwarp::ReceiveRequest> SharedReceives::take() {
  if (waiting_.empty()) return std::nullopt;
  const iwarp::ReceiveRequest oldest = waiting_.front();
  waiting_.pop_front();
  if (waiting_.size() < limit_) tell_limit();
  return oldest;
}

/// Once: who wants it again sets the limit again.
void SharedReceives::tell_limit() {
  limit_ = 0;
  ibv_async_event event{};
  event.element.srq = this;
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  Context::of(ibv_srq::context).events().push({event, &events_});
}

int SharedReceives::modify(const ibv_srq_attr& attributes, int mask) {
  Context& of = Context::of(ibv_srq::context);
  const CoreSection section(of.host());
  const bool resizes = (mask & IBV_SRQ_MAX_WR) != 0, limits = (mask & IBV_SRQ_LIMIT) != 0;
  const std::uint32_t depth = resizes ? attributes.max_wr : depth_;
  if (depth == 0 || depth < waiting_.size() || depth > of.device().process().configuration().depth) return EINVAL;
  if (limits && attributes.srq_limit > depth) return EINVAL;
  depth_ = depth;
  if (waiting_.capacity() > depth_) waiting_.set_capacity(depth_);
  if (limits) limit_ = attributes.srq_limit;
  if (waiting_.size() < limit_) tell_limit();
  return 0;
}

ibv_srq_attr SharedReceives::query() const {
  const CoreSection section(Context::of(ibv_srq::context).host());
  return {.max_wr = depth_, .max_sge = most_pieces_, .srq_limit = limit_};
}

}  // namespace verbs

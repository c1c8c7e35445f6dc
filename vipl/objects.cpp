#include "vipl/objects.hpp"

#include <utility>
#include <vector>

#include "vipl/device.hpp"

namespace vipl {

NicObject::NicObject(Domain& domain, Device& device)
    : Object(its_kind),
      domain_(domain),
      device_(device),
      address_(device.address()),
      errors_(std::make_shared<ErrorReporter>(domain)),
      model_(std::make_unique<vi::Nic>(device.provider(), static_cast<vi::Listener&>(*this))) {}

NicObject::~NicObject() = default;

void* NicObject::adopt(const std::shared_ptr<Part>& part) {
  void* part_handle = domain_.add(part);
  if (part_handle == nullptr) return nullptr;
  parts_[part_handle] = part.get();
  if (part->kind == Kind::Tag) tag_handles_[static_cast<const TagObject&>(*part).tag.value] = part_handle;
  return part_handle;
}

void NicObject::release(Part& part) {
  part.closed = true;
  if (part.kind == Kind::Vi)
    for (WaitPoint& point : static_cast<ViObject&>(part).points) domain_.runtime().notify_all(point);
  if (part.kind == Kind::Queue) domain_.runtime().notify_all(static_cast<QueueObject&>(part).point);
  if (part.kind == Kind::Tag) tag_handles_.erase(static_cast<const TagObject&>(part).tag.value);
  parts_.erase(part.handle);
  domain_.remove(part.handle);
}

void* NicObject::handle_of(vi::Ptag tag) const {
  const auto found = tag_handles_.find(tag.value);
  return found == tag_handles_.end() ? nullptr : found->second;
}

// --- the end ---------------------------------------------------------------------------------------------

void NicObject::close() {
  const auto keep = shared_from_this();
  closed_ = true;
  domain_.remove(handle);  // nobody finds it from here on
  for (WaitPoint* point : waiters_) domain_.runtime().notify_all(*point);
  disconnect_all();
  release_all();
  model_.reset();
  errors_->stop();
}

void NicObject::disconnect_all() {
  std::vector<std::shared_ptr<Pending<vi::Operation>>> under_way;
  for (const auto& [part_handle, part] : parts_) {
    if (part->kind != Kind::Vi) continue;
    under_way.push_back(Pending<vi::Operation>::make(domain_));
    device_.provider().disconnect(*static_cast<ViObject*>(part)->model, *under_way.back());
  }
  for (const auto& operation : under_way)
    domain_.wait_until(operation->point, fc2::never, [&] { return operation->result.has_value(); });
}

void NicObject::release_all() {
  while (!parts_.empty()) {
    Part& part = *parts_.begin()->second;
    if (part.kind == Kind::Vi) {
      vi::Vi& vi = *std::exchange(static_cast<ViObject&>(part).model, nullptr);
      vi.consumer_context = nullptr;
      device_.provider().detach(vi);  // an answer that never came leaves it in Error (ruling 20)
    }
    if (part.kind == Kind::Queue) static_cast<QueueObject&>(part).model->context = nullptr;
    if (part.kind == Kind::Connection)
      domain_.reject_later(device_, static_cast<const ConnectionObject&>(part).token);
    release(part);
  }
  domain_.settle();
}

// --- signals of the model --------------------------------------------------------------------------------

void NicObject::work_completed(vi::Vi& vi, bool receive_queue) {
  if (auto* object = static_cast<ViObject*>(vi.consumer_context))
    domain_.runtime().notify_one(object->point(receive_queue));
}

void NicObject::completion_queued(vi::CompletionQueue& queue) {
  if (auto* object = static_cast<QueueObject*>(queue.context)) domain_.runtime().notify_one(object->point);
}

void NicObject::asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor_address,
                                   std::uint32_t op_code, vi::ResourceCode resource, vi::ErrorCode error) {
  if (closed_) return;
  VIP_ERROR_DESCRIPTOR descriptor{};
  descriptor.NicHandle = handle;
  if (vi != nullptr && vi->consumer_context != nullptr)
    descriptor.ViHandle = static_cast<const ViObject*>(vi->consumer_context)->handle;
  if (queue != nullptr && queue->context != nullptr)
    descriptor.CQHandle = static_cast<const QueueObject*>(queue->context)->handle;
  descriptor.DescriptorPtr = reinterpret_cast<VIP_DESCRIPTOR*>(descriptor_address);
  descriptor.OpCode = op_code;
  descriptor.ResourceCode = static_cast<VIP_RESOURCE_CODE>(resource);
  descriptor.ErrorCode = static_cast<VIP_ERROR_CODE>(error);
  errors_->report(descriptor);
}

}  // namespace vipl

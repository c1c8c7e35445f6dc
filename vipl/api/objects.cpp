#include "vipl/api/objects.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vipl/devices/device.hpp"
#include "vipl/api/diagnosis.hpp"
#include "vipl/engine/memory_faults.hpp"

namespace vipl {
namespace {

/// Without the engine's lock.
void stop_notifiers(Part& part, void* handle) {
  if (part.kind == Object::Kind::Vi)
    for (const bool receive_queue : {false, true})
      static_cast<ViObject&>(part).port(receive_queue).notifiers().stop(handle);
  if (part.kind == Object::Kind::Queue) static_cast<QueueObject&>(part).port.notifiers().stop(handle);
}

}  // namespace

// --- virtual interfaces ----------------------------------------------------------------------------------

ViObject::ViObject(Domain& domain) : Part(its_kind), ports_{WorkPort(domain.engine()), WorkPort(domain.engine())} {}

bool ViObject::try_rest() { return ports_[0].try_rest() && ports_[1].try_rest(); }

// Receives first: what a program posts before it sends is there when the answer comes.
std::size_t ViObject::serve() {
  std::size_t count = 0;
  for (const bool receive_queue : {true, false})
    if (port(receive_queue).has_next()) count += submit(receive_queue);
  return count;
}

std::size_t ViObject::submit(bool receive_queue) {
  WorkPort& queue = port(receive_queue);
  std::size_t count = 0;
  for (WorkPort::Submission submission; queue.next(submission); ++count) {
    if (model == nullptr) continue;  // destroyed meanwhile
    const auto before = model->posted_count(receive_queue);
    const bool overrun = trace::errors() && model->is_full(receive_queue);
    if (receive_queue)
      model->post_receive(submission);
    else
      model->post_send(submission);
    if (model->posted_count(receive_queue) != before) continue;
    if (trace::errors()) nic->tell_refusal(*this, receive_queue, submission, overrun);
    queue.refuse();
  }
  return count;
}

[[gnu::noinline]] bool ViObject::post_judged(bool receive_queue, std::uint64_t address, wire::MemHandle region) {
  const vi::PostRules rules{nic->model().memory(), model->attributes().ptag,
                            max_segments.load(std::memory_order_relaxed)};
  const vi::PostedDescriptor found = vi::judge_post(rules, receive_queue, address, region, true);
  if (!found.valid) return false;
  if (!receive_queue) port(receive_queue).engine().clock_goes_on();  // an RDMA Read, too, is answered within a time
  port(receive_queue).count_post_inside();
  model->post_valid(receive_queue, found.entry);
  return true;
}

QueueObject::QueueObject(Domain& domain) : Part(its_kind), port(domain.engine(), domain.directory()) {}

// --- NICs ------------------------------------------------------------------------------------------------

NicObject::NicObject(Domain& domain, Device& device)
    : Object(its_kind), domain_(domain), device_(device), address_(device.addresses().front()),
      errors_(std::make_shared<ErrorReporter>(domain.engine())),
      model_(std::make_unique<vi::Nic>(device.transport(), static_cast<vi::Listener&>(*this), device.limits(),
                                       &memory_faults())) {}

NicObject::~NicObject() = default;

void* NicObject::adopt(const std::shared_ptr<Part>& part) {
  part->nic = this;
  part->closed = false;
  try {
    if (domain_.add(*part) == nullptr) return nullptr;
    parts_[part->handle] = part;
    if (part->kind == Kind::Tag) tag_handles_[static_cast<const TagObject&>(*part).tag.value] = part->handle;
  } catch (const std::bad_alloc&) {
    parts_.erase(part->handle);
    domain_.remove(*part);
    return nullptr;
  }
  return part->handle;
}

void NicObject::release(Part& part) {
  const auto keep = parts_.extract(part.handle);
  part.closed = true;
  if (part.kind == Kind::Tag) tag_handles_.erase(static_cast<const TagObject&>(part).tag.value);
  domain_.remove(part);
  if (part.kind == Kind::Vi)
    for (const bool receive_queue : {false, true}) static_cast<ViObject&>(part).port(receive_queue).close();
  if (part.kind == Kind::Queue) static_cast<QueueObject&>(part).port.close();
}

void* NicObject::handle_of(vi::Ptag tag) const {
  const auto found = tag_handles_.find(tag.value);
  return found == tag_handles_.end() ? nullptr : found->second;
}

// --- the end ---------------------------------------------------------------------------------------------

void NicObject::close() {
  const auto keep = shared_from_this();
  closed_ = true;
  domain_.remove_nic(*this);  // nobody finds it from here on
  for (EventCount* point : waiters_) domain_.runtime().notify_all(*point);
  disconnect_all();
  const auto parts = parts_;  // so that nobody else gets these objects yet
  release_all();
  model_.reset();
  domain_.engine().leave();
  for (const auto& [part_handle, part] : parts) stop_notifiers(*part, part_handle);
  domain_.engine().enter();
  errors_->stop();
}

void NicObject::release_and_stop_notifiers(Part& part) {
  const auto keep = parts_.at(part.handle);
  const auto keep_nic = shared_from_this();
  void* const part_handle = part.handle;
  release(part);
  domain_.engine().leave();
  stop_notifiers(part, part_handle);
  domain_.engine().enter();
}

void NicObject::disconnect_all() {
  std::vector<std::shared_ptr<Pending<vi::Operation>>> under_way;
  for (const auto& [part_handle, part] : parts_) {
    if (part->kind != Kind::Vi) continue;
    under_way.push_back(Pending<vi::Operation>::make(domain_));
    device_.transport().disconnect(*static_cast<ViObject&>(*part).model, *under_way.back());
  }
  for (const auto& operation : under_way)
    domain_.engine().spin_until(operation->point, runtime::never, [&] { return operation->result.has_value(); });
}

void NicObject::release_all() {
  const MemoryGate::Writer writer(domain_.memory_gate());  // posters are out of the model's memory table
  while (!parts_.empty()) {
    Part& part = *parts_.begin()->second;
    if (part.kind == Kind::Vi) {
      vi::Vi& vi = *std::exchange(static_cast<ViObject&>(part).model, nullptr);
      vi.consumer_context = nullptr;
      device_.transport().detach(vi);  // an answer that never came leaves it in Error (ruling 20)
    }
    if (part.kind == Kind::Queue) static_cast<QueueObject&>(part).model->context = nullptr;
    if (part.kind == Kind::Connection) domain_.reject_later(device_, static_cast<const ConnectionObject&>(part).token);
    release(part);
  }
}

// --- signals of the model --------------------------------------------------------------------------------

bool NicObject::completed(vi::Vi& vi, bool receive_queue, std::uint64_t descriptor_address, bool error) {
  auto* const object = static_cast<ViObject*>(vi.consumer_context);
  if (object == nullptr) return true;  // its handle is gone
  if (error) [[unlikely]]
    return failed(*object, receive_queue, descriptor_address);
  object->port(receive_queue).complete({descriptor_address, false});
  return true;
}

/// Always true.
[[gnu::noinline, gnu::cold]] bool NicObject::failed(ViObject& object, bool receive_queue, std::uint64_t address) {
  if (trace::errors()) tell_failure(object, receive_queue, address);
  object.port(receive_queue).complete({address, true});
  return true;
}

// In Error each is flushed at once (VI-ARCH 5.4).
void NicObject::state_changed(vi::Vi& vi) {
  auto* const object = static_cast<ViObject*>(vi.consumer_context);
  if (object == nullptr) return;
  object->receives_wait.store(vi.state() != vi::State::Error && !model_->capabilities().needs_receives_at_once);
  object->times_sends.store(vi.attributes().reliability == vi::ReliabilityLevel::ReliableReception);
}

std::uint64_t NicObject::taken_count(const vi::Vi& vi, bool receive_queue) const {
  auto* const object = static_cast<ViObject*>(vi.consumer_context);
  return object == nullptr ? 0 : object->port(receive_queue).waiting_count();
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
  const vi::EndCause cause = vi == nullptr ? vi::EndCause{} : device_.transport().cause_of_end(*vi);
  if (trace::errors()) tell_error(descriptor, error == vi::ErrorCode::ConnLost ? cause.text : std::string_view{});
  errors_->report(descriptor, error == vi::ErrorCode::ConnLost && cause.peer_left);
}

// --- for people ------------------------------------------------------------------------------------------

void NicObject::tell_failure(const ViObject& object, bool receive_queue, std::uint64_t address) {
  const vi::EndCause cause = device_.transport().cause_of_end(*object.model);
  const FailedDescriptor failed{*object.model, model_->memory(), model_->limits(), receive_queue, address, cause.text};
  trace::tell(fmt::format("VI {}: {}", object.handle, explain(failed)));
}

void NicObject::tell_refusal(const ViObject& object, bool receive_queue, const WorkPort::Submission& submission,
                             bool overrun) {
  const FailedDescriptor failed{
      *object.model, model_->memory(), model_->limits(), receive_queue, submission.entry.address, {}, overrun};
  trace::tell(fmt::format("VI {}: {}", object.handle, explain_post(failed, submission.entry.handle)));
}

void NicObject::tell_error(const VIP_ERROR_DESCRIPTOR& error, std::string_view cause) {
  trace::tell(fmt::format("VI {}: asynchronous error {}{}{}", error.ViHandle,
                          vi::to_string(static_cast<vi::ErrorCode>(error.ErrorCode)), cause.empty() ? "" : ": ",
                          cause));
}

void NicObject::report_catastrophe() {
  for (const auto& [part_handle, part] : parts_)
    if (part->kind == Kind::Vi && static_cast<ViObject&>(*part).model != nullptr)
      static_cast<ViObject&>(*part).model->fail_catastrophically();
}

}  // namespace vipl

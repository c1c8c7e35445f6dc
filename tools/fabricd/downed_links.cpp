#include "tools/fabricd/downed_links.hpp"

#include <algorithm>
#include <utility>

namespace fabricd {

std::string_view to_string(LinkAction action) {
  switch (action) {
    case LinkAction::Down: return "down";
    case LinkAction::Up: return "up";
    case LinkAction::Reset: return "reset";
  }
  return "?";
}

std::optional<LinkAction> link_action_of(std::string_view word) {
  for (const LinkAction action : {LinkAction::Down, LinkAction::Up, LinkAction::Reset})
    if (word == to_string(action)) return action;
  return std::nullopt;
}

void WaitingLink::bring_up() {
  if (const std::string error = service().admit(*this); error.empty()) {
    let_go_of_stream();
  } else {
    stream().send_record(RecordKind::Refusal, error);
    stream().close();
  }
  end();
}

void WaitingLink::stream_closed(const std::string&) {
  stream().close();
  end();
}

void DownedLinks::add(NamedPort port) { links_.push_back(std::make_unique<Downed>(std::move(port))); }

DownedLinks::Downed* DownedLinks::without_waiting(std::uint32_t process_id) {
  const auto found = std::find_if(links_.begin(), links_.end(), [&](const auto& downed) {
    return downed->port.process_id == process_id && downed->waiting == nullptr;
  });
  return found == links_.end() ? nullptr : found->get();
}

std::vector<DownedLinks::Downed*> DownedLinks::called(std::string_view name) {
  std::vector<Downed*> found;
  for (const auto& downed : links_)
    if (PortNames::is_called(downed->port, name)) found.push_back(downed.get());
  return found;
}

void DownedLinks::remove(const Downed* gone) {
  std::erase_if(links_, [&](const auto& downed) { return downed.get() == gone; });
}

void DownedLinks::let_go(const WaitingLink& waiting) {
  for (const auto& downed : links_)
    if (downed->waiting == &waiting) downed->waiting = nullptr;
}

void DownedLinks::forget_ended() {
  std::erase_if(links_, [](const auto& downed) { return downed->waiting == nullptr && downed->process.end().ended; });
}

std::vector<std::string> DownedLinks::texts() const {
  std::vector<std::string> texts;
  for (const auto& downed : links_) texts.push_back(downed->port.text);
  return texts;
}

}  // namespace fabricd

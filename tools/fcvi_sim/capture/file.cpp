#include "tools/fcvi_sim/capture/file.hpp"

namespace sim::capture {

bool Format::read_all(ByteSource& source, wire::MutableBytes to, std::string_view what) {
  const std::size_t got = source.read(to);
  if (got == to.size()) return true;
  if (!source.error().empty()) return fail(source.error());
  return fail("truncated " + std::string(what) + ": " + std::to_string(got) + " of " + std::to_string(to.size()) +
              " bytes");
}

bool Format::any_fits() {
  for (const Interface& interface : interfaces_)
    if (is_known(interface.link_type)) return true;
  return fail("expected Ethernet (FCoE) or Fibre Channel frames, got link type " +
              std::to_string(static_cast<std::uint32_t>(interfaces_.front().link_type)));
}

std::string File::open(const std::string& path) {
  path_ = path == "-" ? "standard input" : path;
  if (const std::string error = source_.open(path); !error.empty()) return path_ + ": " + error;
  std::array<std::uint8_t, 4> magic{};
  const std::size_t got = source_.read(magic);
  if (!source_.error().empty()) return path_ + ": " + source_.error();
  if (got == 0) return path_ + ": is empty, expected a capture (pcap or pcapng)";
  format_ = open_pcap(source_, magic);
  if (!format_) format_ = open_pcapng(source_, magic);
  if (!format_) return path_ + ": unknown file format, expected a capture (pcap or pcapng)";
  return format_->error().empty() ? "" : path_ + ": " + format_->error();
}

bool File::next(Packet& packet) {
  if (!format_->next(packet)) return false;
  packet.number = ++count_;
  return true;
}

std::string File::error() const {
  const std::string& error = format_->error();
  return error.empty() ? "" : path_ + ": frame " + std::to_string(count_ + 1) + ": " + error;
}

}  // namespace sim::capture

#include "tools/fcvi_sim/capture/byte_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sim::capture {
namespace {
constexpr std::uint8_t gzip_magic[] = {0x1F, 0x8B};
constexpr int gzip_only = 15 + 16;  // window of 32 KiB, gzip's header
}  // namespace

void ByteSource::InflateEnd::operator()(z_stream* stream) const {
  ::inflateEnd(stream);
  delete stream;
}

ByteSource::~ByteSource() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

std::string ByteSource::open(const std::string& path) {
  file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return file_ < 0 ? std::strerror(errno) : "";
}

/// At least one byte is in the buffer afterwards, unless the source ended.
bool ByteSource::fill() {
  if (begin_ < end_) return true;
  begin_ = end_ = 0;
  ssize_t got = 0;
  while ((got = ::read(file_, buffer_.data(), buffer_.size())) < 0 && errno == EINTR) {}
  if (got < 0) error_ = std::strerror(errno);
  end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  return end_ > 0;
}

std::size_t ByteSource::some(wire::MutableBytes to) {
  if (!started_) {
    started_ = true;
    if (fill() && buffer_[0] == gzip_magic[0] && (end_ < 2 || buffer_[1] == gzip_magic[1])) {
      inflate_.reset(new z_stream{});
      ::inflateInit2(inflate_.get(), gzip_only);
    }
  }
  if (inflate_) return inflate_some(to);
  if (!fill()) return 0;
  const std::size_t size = std::min(to.size(), end_ - begin_);
  std::memcpy(to.data(), buffer_.data() + begin_, size);
  begin_ += size;
  return size;
}

// A file may have several members, one behind the other.
std::size_t ByteSource::inflate_some(wire::MutableBytes to) {
  z_stream& stream = *inflate_;
  stream.next_out = to.data();
  stream.avail_out = static_cast<uInt>(to.size());
  while (stream.avail_out == to.size() && error_.empty()) {
    if (!fill()) {
      if (member_open_ && error_.empty()) error_ = "unexpected end of the compressed data";
      return 0;
    }
    member_open_ = true;
    stream.next_in = buffer_.data() + begin_;
    stream.avail_in = static_cast<uInt>(end_ - begin_);
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    if (result == Z_STREAM_END) {
      member_open_ = false;
      ::inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      error_ = std::string("damaged compressed data: ") + (stream.msg != nullptr ? stream.msg : "cannot be read");
    }
  }
  return to.size() - stream.avail_out;
}

std::size_t ByteSource::read(wire::MutableBytes to) {
  std::size_t got = 0;
  while (got < to.size()) {
    const std::size_t more = some(to.subspan(got));
    if (more == 0) break;
    got += more;
  }
  return got;
}

}  // namespace sim::capture

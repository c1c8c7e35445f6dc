// The bytes of a file or of standard input, decompressed where they are compressed by gzip. Never waits for more bytes
// than are asked for, so that what a program writes into a pipe can be shown at once.
#pragma once
#include <zlib.h>

#include <array>
#include <memory>
#include <string>

#include "wire/bytes.hpp"

namespace sim::capture {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();

  /// "-": standard input. Returns why it cannot be read; empty: it can.
  std::string open(const std::string& path);
  /// Fills `to`. Fewer bytes: the source ended, or error() says what is wrong.
  std::size_t read(wire::MutableBytes to);
  /// What is wrong with the bytes; empty: nothing.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] bool fill();
  std::size_t some(wire::MutableBytes to);
  std::size_t inflate_some(wire::MutableBytes to);

  struct InflateEnd {
    void operator()(z_stream* stream) const;
  };
  int file_ = -1;
  std::array<std::uint8_t, 65536> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is in the buffer
  std::unique_ptr<z_stream, InflateEnd> inflate_;
  bool started_ = false, member_open_ = false;
  std::string error_;
};

}  // namespace sim::capture

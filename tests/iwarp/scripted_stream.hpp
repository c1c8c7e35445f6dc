// A stream whose octets are all there, given in pieces of a size; and a sink that writes down what it is given.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "iwarp/framing.hpp"

namespace iwarp::testing {

class ScriptedStream final : public streams::Stream {
 public:
  std::vector<std::uint8_t> incoming, outgoing;
  std::size_t room = SIZE_MAX;   // octets that it still takes
  std::size_t limit = SIZE_MAX;  // number of the first octet that has not arrived yet
  std::size_t reads = 0, writes = 0;
  std::vector<std::size_t> write_ends;  // octets of `outgoing` behind each
  bool shut = false;

  [[nodiscard]] bool is_read() const { return read_ == std::min(limit, incoming.size()); }

  void set_user(streams::StreamUser&) override {}
  [[nodiscard]] streams::Address local() const override { return {}; }
  [[nodiscard]] streams::Address remote() const override { return {}; }
  std::size_t write(std::span<const wire::Bytes> pieces) override {
    ++writes;
    std::size_t taken = 0;
    for (const wire::Bytes piece : pieces) {
      const std::size_t here = std::min(piece.size(), room);
      outgoing.insert(outgoing.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(here));
      room -= here;
      taken += here;
      if (here < piece.size()) break;
    }
    write_ends.push_back(outgoing.size());
    return taken;
  }
  streams::ReadResult read(std::span<const wire::MutableBytes> pieces) override {
    ++reads;
    streams::ReadResult result;
    for (const wire::MutableBytes piece : pieces) {
      const std::size_t here = std::min(piece.size(), std::min(limit, incoming.size()) - read_);
      std::copy_n(incoming.begin() + static_cast<std::ptrdiff_t>(read_), here, piece.begin());
      read_ += here;
      result.octets += here;
    }
    result.end = shut && read_ == incoming.size();
    return result;
  }
  void ask_readable() override {}
  void ask_writable() override {}
  bool mark_urgent() override { return false; }
  void shut_down() override {}
  void reset() override {}

 private:
  std::size_t read_ = 0;
};

/// A DDP segment: its header, and its payload.
struct Ulpdu {
  std::vector<std::uint8_t> header, payload;
  friend bool operator==(const Ulpdu&, const Ulpdu&) = default;
};
/// Of so many octets of payload, with octets that follow from `seed`.
inline Ulpdu ulpdu_of(bool tagged, std::size_t payload_octets, std::uint8_t seed) {
  Ulpdu ulpdu{std::vector<std::uint8_t>(wire::ddp::header_bytes(tagged)), std::vector<std::uint8_t>(payload_octets)};
  wire::ddp::Header header{.tagged = tagged, .last = true};
  if (!tagged) header.msn.value = seed;
  if (tagged) header.tagged_offset = seed;
  header.write(ulpdu.header);
  for (std::size_t i = 0; i < payload_octets; ++i) ulpdu.payload[i] = static_cast<std::uint8_t>(i * 7 + seed);
  return ulpdu;
}

class RecordingSink final : public UlpduSink {
 public:
  bool has_memory = true;  // for payload_room()
  std::vector<Ulpdu> ulpdus;
  std::size_t placed = 0, copied = 0;
  std::vector<wire::mpa::ErrorCode> errors;

  void ulpdu_begun(wire::Bytes ddp_header, std::size_t payload_octets) override {
    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(left_, 0u);
    present_ = {{ddp_header.begin(), ddp_header.end()}, std::vector<std::uint8_t>(payload_octets, 0xEE)};
    left_ = payload_octets;
  }
  std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) override {
    EXPECT_EQ(octets, left_);
    if (!has_memory || pieces.size() < 2) return 0;
    const wire::MutableBytes rest = wire::MutableBytes(present_.payload).last(left_);
    pieces[0] = rest.first(octets / 3);
    pieces[1] = rest.subspan(octets / 3);
    return 2;
  }
  void payload_placed(std::size_t octets) override {
    placed += octets;
    ASSERT_LE(octets, left_);
    left_ -= octets;
  }
  void payload_unplaced() override { has_memory = false; }
  void payload_received(wire::Bytes octets) override {
    copied += octets.size();
    ASSERT_LE(octets.size(), left_);
    std::copy(octets.begin(), octets.end(), present_.payload.end() - static_cast<std::ptrdiff_t>(left_));
    left_ -= octets.size();
  }
  void ulpdu_ended() override {
    EXPECT_EQ(left_, 0u);
    ulpdus.push_back(present_);
  }
  void framing_failed(wire::mpa::ErrorCode error) override {
    errors.push_back(error);
    left_ = 0;
  }

 private:
  Ulpdu present_;
  std::size_t left_ = 0;
};

/// All that has arrived by now.
inline Framing::Progress read_all(Framing& framing, ScriptedStream& stream) {
  Framing::Progress progress = framing.read(stream);
  while (!stream.is_read()) progress = framing.read(stream);
  return progress;
}

}  // namespace iwarp::testing

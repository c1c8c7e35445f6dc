// Why a connection ended, for people: the first cause that is noted stays (FC-VI Table 12).
#include "fcvi/end_record.hpp"

#include <gtest/gtest.h>

namespace {
using fcvi::Ended;
using fcvi::EndRecord;
using wire::fcvi::Reason;

TEST(EndRecord, nothing_noted_tells_nothing) {
  const EndRecord record;
  EXPECT_TRUE(record.told().text.empty());
}

TEST(EndRecord, first_cause_stays) {
  EndRecord record;
  record.note(Ended::PeerLeft);
  record.note(Ended::Transport);
  record.note_here(Reason::transport_error);
  EXPECT_TRUE(record.told().peer_left);
}

// A failure that the peer tells is its error; the same found here is ours.
TEST(EndRecord, failure_found_here_depends_on_what_the_peer_told) {
  EndRecord ours, theirs;
  theirs.peer_knows = true;
  ours.note_here(Reason::remote_descriptor_error);
  theirs.note_here(Reason::remote_descriptor_error);
  EXPECT_NE(ours.told().text, theirs.told().text);
}

// Frames that are missing are nobody's refusal.
TEST(EndRecord, transport_error_is_told_alike) {
  EndRecord ours, theirs;
  theirs.peer_knows = true;
  ours.note_here(Reason::transport_error);
  theirs.note_here(Reason::transport_error);
  EXPECT_EQ(ours.told().text, theirs.told().text);
}

}  // namespace

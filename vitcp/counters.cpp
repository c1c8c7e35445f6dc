#include "vitcp/counters.hpp"

#include <algorithm>
#include <numeric>

namespace vitcp {
namespace {

std::size_t place_of(const wire::ParseError& error) {
  const auto& refusals = wire::vitcp::refusals;
  return static_cast<std::size_t>(std::find(refusals.begin(), refusals.end(), error) - refusals.begin());
}

}  // namespace

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::half_open_limit: return "half_open_limit";
    case Refusal::request_timeout: return "request_timeout";
    case Refusal::not_a_request: return "not_a_request";
    case Refusal::end_in_segment: return "end_in_segment";
    case Refusal::no_match: return "no_match";
    case Refusal::offer_limit: return "offer_limit";
    case Refusal::before_accept: return "before_accept";
    case Refusal::unsuitable_answer: return "unsuitable_answer";
    case Refusal::connection_segment: return "connection_segment";
    case Refusal::message_number: return "message_number";
    case Refusal::message_mixed: return "message_mixed";
    case Refusal::segment_order: return "segment_order";
    case Refusal::segment_differs: return "segment_differs";
    case Refusal::message_ack: return "message_ack";
    case Refusal::read_response: return "read_response";
    case Refusal::read_window: return "read_window";
    case Refusal::transfer_size: return "transfer_size";
    case Refusal::farewell_limit: return "farewell_limit";
    case Refusal::segment_stalled: return "segment_stalled";
  }
  return "?";
}

void ProviderCounters::refuse(const wire::ParseError& error) { ++refused_by_parser_[place_of(error)]; }

std::uint64_t ProviderCounters::refused(const wire::ParseError& error) const {
  return refused_by_parser_[place_of(error)];
}

std::uint64_t ProviderCounters::refused() const {
  const std::uint64_t ours = std::accumulate(refused_.begin(), refused_.end(), std::uint64_t{0});
  return std::accumulate(refused_by_parser_.begin(), refused_by_parser_.end(), ours);
}

}  // namespace vitcp

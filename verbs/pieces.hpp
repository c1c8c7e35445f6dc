// Scatter and gather lists of work requests.
#pragma once
#include <infiniband/verbs.h>

#include <span>

#include "iwarp/work.hpp"

namespace verbs {

[[nodiscard]] inline iwarp::LocalPieces pieces_of(const ibv_sge* first, int count) {
  iwarp::LocalPieces pieces;
  for (const ibv_sge& one : std::span(first, static_cast<std::size_t>(count)))
    pieces.push_back({{one.lkey}, one.addr, one.length});
  return pieces;
}

}  // namespace verbs

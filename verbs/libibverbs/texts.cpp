// Values as text, and rates.
#include <infiniband/verbs.h>

#include <array>

#include "verbs/libibverbs/call.hpp"

namespace {

template <std::size_t count>
const char* text_of(const std::array<const char*, count>& texts, int value) {
  return value < 0 || static_cast<std::size_t>(value) >= count ? "unknown" : texts[static_cast<std::size_t>(value)];
}

struct Rate {
  ibv_rate rate;
  int mult, mbps;  // mult: of 2.5 Gbit/s; -1: it is none
};
constexpr std::array<Rate, 23> rates{
    {{IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},       {IBV_RATE_10_GBPS, 4, 10000},
     {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_30_GBPS, 12, 30000},    {IBV_RATE_40_GBPS, 16, 40000},
     {IBV_RATE_60_GBPS, 24, 60000},    {IBV_RATE_80_GBPS, 32, 80000},    {IBV_RATE_120_GBPS, 48, 120000},
     {IBV_RATE_28_GBPS, 11, 28125},    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_400_GBPS, 160, 425000},
     {IBV_RATE_600_GBPS, 240, 637500}, {IBV_RATE_800_GBPS, 320, 850000}, {IBV_RATE_1200_GBPS, 480, 1275000},
     {IBV_RATE_14_GBPS, -1, 14062},    {IBV_RATE_56_GBPS, -1, 56250},    {IBV_RATE_112_GBPS, -1, 112500},
     {IBV_RATE_168_GBPS, -1, 168750},  {IBV_RATE_25_GBPS, -1, 25781},    {IBV_RATE_100_GBPS, 40, 103125},
     {IBV_RATE_200_GBPS, 80, 206250},  {IBV_RATE_300_GBPS, 120, 309375}}};

template <class Result, class Key>
Result find_rate(Result Rate::*result, Key Rate::*key, Key value, Result none) {
  for (const Rate& one : rates)
    if (one.*key == value) return one.*result;
  return none;
}

}  // namespace

VERBS_CALL const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr std::array texts{"success",
                                    "local length error",
                                    "local QP operation error",
                                    "local EE context operation error",
                                    "local protection error",
                                    "Work Request Flushed Error",
                                    "memory management operation error",
                                    "bad response error",
                                    "local access error",
                                    "remote invalid request error",
                                    "remote access error",
                                    "remote operation error",
                                    "transport retry counter exceeded",
                                    "RNR retry counter exceeded",
                                    "local RDD violation error",
                                    "remote invalid RD request",
                                    "aborted error",
                                    "invalid EE context number",
                                    "invalid EE context state",
                                    "fatal error",
                                    "response timeout error",
                                    "general error",
                                    "TM error",
                                    "TM software rendezvous"};
  return text_of(texts, status);
}

VERBS_CALL const char* ibv_event_type_str(ibv_event_type event) {
  static constexpr std::array texts{"CQ error",
                                    "local work queue catastrophic error",
                                    "invalid request local work queue error",
                                    "local access violation work queue error",
                                    "communication established",
                                    "send queue drained",
                                    "path migrated",
                                    "path migration request error",
                                    "local catastrophic error",
                                    "port active",
                                    "port error",
                                    "LID change",
                                    "P_Key change",
                                    "SM change",
                                    "SRQ catastrophic error",
                                    "SRQ limit reached",
                                    "last WQE reached",
                                    "client reregistration",
                                    "GID table change",
                                    "WQ fatal"};
  return text_of(texts, event);
}

VERBS_CALL const char* ibv_node_type_str(ibv_node_type type) {
  static constexpr std::array texts{"unknown",           "InfiniBand channel adapter",
                                    "InfiniBand switch", "InfiniBand router",
                                    "iWARP NIC",         "usNIC",
                                    "usNIC UDP",         "unspecified"};
  return text_of(texts, type);
}

VERBS_CALL const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr std::array texts{"no state change (NOP)", "down", "init", "armed", "active", "active defer"};
  return text_of(texts, state);
}

VERBS_CALL int ibv_rate_to_mult(ibv_rate rate) { return find_rate(&Rate::mult, &Rate::rate, rate, -1); }
VERBS_CALL ibv_rate mult_to_ibv_rate(int mult) { return find_rate(&Rate::rate, &Rate::mult, mult, IBV_RATE_MAX); }
VERBS_CALL int ibv_rate_to_mbps(ibv_rate rate) { return find_rate(&Rate::mbps, &Rate::rate, rate, -1); }
VERBS_CALL ibv_rate mbps_to_ibv_rate(int mbps) { return find_rate(&Rate::rate, &Rate::mbps, mbps, IBV_RATE_MAX); }

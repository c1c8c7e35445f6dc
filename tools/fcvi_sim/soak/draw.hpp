// What draws a scenario from a number.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/fcvi_sim/scenario/random.hpp"

namespace sim::soak {

using Texts = std::initializer_list<std::string_view>;

/// A mapping in flow style: {key: value, ...}.
class Map {
 public:
  Map& add(std::string_view key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + std::string(key) + ": " + value;
    return *this;
  }
  [[nodiscard]] bool is_empty() const { return text_.empty(); }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

inline std::string list_of(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

/// Draws one part of a scenario after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed)
      : seed_(seed), random_(seed, "soak"), later_(seed, "soak, later"), hosts_(seed, "soak, hosts on TCP") {}
  std::string scenario();

 private:
  /// What is drawn within it has random numbers of its own: what came into the language later does not change the rest
  /// of what a number stands for.
  class Later {
   public:
    explicit Later(Draw& draw) : draw_(draw) { std::swap(draw_.random_, draw_.later_); }
    ~Later() { std::swap(draw_.random_, draw_.later_); }
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

   private:
    Draw& draw_;
  };
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  /// Both included.
  std::uint64_t between(std::uint64_t min, std::uint64_t max) { return min + random_.below(max - min + 1); }
  std::string one_of(Texts texts) { return std::string(texts.begin()[random_.below(texts.size())]); }
  /// With that chance, one of the values; else the default of the scenario, and "" here.
  std::string sometimes(Map& map, unsigned percent, std::string_view key, Texts values) {
    if (!chance(percent)) return {};
    const std::string value = one_of(values);
    map.add(key, value);
    return value;
  }
  /// Short times are as likely as long ones.
  std::string time_up_to(unsigned decades) {
    const std::uint64_t value = between(1, 999);
    constexpr std::string_view units[] = {"ns", "us", "ms"};
    return std::to_string(value) + std::string(units[random_.below(decades)]);
  }
  std::string port() { return "p" + std::to_string(between(1, ports_)); }

  // drawn_hosts.cpp: hosts on TCP, all of it with random numbers of their own.
  std::string scenario_of_hosts();
  void draw_size_of_hosts();
  std::string topology_of_hosts();
  std::string drawn_host(std::size_t number);
  std::string segment_fault();
  std::string host_fault();

  void draw_size();
  std::string topology();
  void joins(Map& map);
  std::string drawn_port(std::size_t number);
  void numbers(Map& map);
  void class_2(Map& map);
  std::string workload(std::size_t number);
  std::string transfer(std::uint64_t& messages, bool reliable);
  void pace(Map& map);
  void reply(Map& map);
  std::string background(std::size_t number);
  std::string backgrounds();
  std::string fault();
  std::string frame_fault();
  std::string overtaken_data();
  std::string login_fault();
  std::string port_fault();
  std::string port_fault_at_login();
  void frames(Map& map);
  void turns(Map& map);

  enum class Kind : std::uint8_t { Fabric, PointToPoint, PrivateLoop, Hosts };
  const std::uint64_t seed_;
  Random random_, later_, hosts_;
  Kind kind_ = Kind::Fabric;
  std::size_t ports_ = 2, switches_ = 1, isls_ = 0, workloads_ = 1;
  bool loop_ = false, out_of_order_ = false, class_2_ = false, large_ = false, far_ = false;
  bool tiny_ = false, checked_ = false;  // of hosts: octet by octet, so messages are short; all ask for the CRC
  std::vector<bool> on_loop_;
};

}  // namespace sim::soak

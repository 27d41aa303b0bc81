// What the device takes to start an operation: until it has come from the host, and from the end of
// what it waited for. Read off the trace, where it has such a pair; otherwise off the profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/command.hpp"
#include "model/timing_profile.hpp"
#include "trace/trace.hpp"

namespace sb::analysis {

// Operations that start alike.
enum class start_class : std::uint8_t { other, compute, to_device, to_host, inside, graph_node };
[[nodiscard]] start_class start_class_of(const command& c);

// An operation and the one whose end let it start.
struct start_pair {
  enum class streams : bool { same, different };
  start_class before = start_class::other, what = start_class::other;
  streams which = streams::same;
  auto operator<=>(const start_pair&) const = default;
};

class start_gaps {
 public:
  using nanoseconds = trace::nanoseconds;

  void saw_arrival(start_class what, nanoseconds time) { arrivals_[what].push_back(time); }
  void saw_gap(const start_pair& pair, nanoseconds time) { gaps_[pair].push_back(time); }
  // What nothing was seen of; null: nobody knows.
  void fall_back_to(const timing_profile* timing) { timing_ = timing; }
  // To be called when all is seen: the medians.
  void settle();

  // From the call until an idle device begins; from the end of what an operation waited for.
  [[nodiscard]] std::optional<nanoseconds> arrival(start_class what) const;
  [[nodiscard]] std::optional<nanoseconds> gap(const start_pair& pair) const;

 private:
  std::map<start_class, std::vector<nanoseconds>> arrivals_;
  std::map<start_pair, std::vector<nanoseconds>> gaps_;
  const timing_profile* timing_ = nullptr;
};

}  // namespace sb::analysis

// Where the records of a stream's events go when its work goes to several streams: with the work in
// front of them, or else with what comes next.
//
// What waits for a record may need more than that work. A record whose time may be read, and one
// for which a stream waits, stands for all that was in front of it as before. One for which the
// host alone waits stands for what the host can see, and for all of it where work of other streams
// that uses the same memory may be issued because of that wait.
#pragma once

#include <vector>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

struct moved_record {
  number record = none;
  std::size_t group = 0;
  std::vector<number> behind{}, in_front_of{};  // of other groups
};

class record_places {
 public:
  explicit record_places(const evidence& e);

  // `groups` are all work of the stream.
  [[nodiscard]] std::vector<moved_record> place(
      number stream, const std::vector<number>& records,
      const std::vector<std::vector<number>>& groups) const;

 private:
  // All that was in front of it; what the host sees of that; nothing.
  enum class standing : std::uint8_t { nothing, seen, all };

  const evidence& e_;
  std::vector<standing> stands_for_;  // by record
  const std::vector<bool> timed_;     // by record
};

}  // namespace sb::analysis

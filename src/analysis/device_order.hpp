// What the streams, events and waits of a program put one after another, and whether a change keeps
// the order of all that meets in memory.
//
// What has to keep its order is known from the byte ranges of the operations. What the host itself
// reads and writes is not in a trace: whatever touches its memory has to stay in front of the same
// waits of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/allocation_parts.hpp"
#include "analysis/program.hpp"

namespace sb::analysis {

// Programs whose work has an order that is known: one thread calls, and nothing is in graphs.
[[nodiscard]] bool can_be_ordered(const trace::trace& t, const program& p);
// Of these, programs of which every order is there for the data. One that asks whether something is
// over may wait for the sake of that; one that reads times of events can be followed where it is
// known of which (timed_records.hpp).
[[nodiscard]] bool can_be_followed(const trace::trace& t, const program& p);
// It waits for events, and has more operations than are looked at.
inline constexpr std::size_t most_followed = 200'000;
[[nodiscard]] bool is_too_long_to_follow(const trace::trace& t);

// The host may see what it does: it uses the host's memory, or nobody knows what.
[[nodiscard]] bool touches_host(const trace::trace& t, const trace::operation& o);

// What is over before what. Waits are for the operations that the program's tasks name.
class device_order {
 public:
  // By stream: how many of its operations are over. Waits for events are not counted, so that two
  // orders can be compared of which one has a wait somewhere else.
  using positions = std::vector<std::uint32_t>;

  device_order(const trace::trace& t, const program& p);

  [[nodiscard]] const positions& before(number operation) const { return before_[operation]; }
  // Of its stream, how many are over when it is.
  [[nodiscard]] std::uint32_t place(number operation) const { return place_[operation]; }
  // What the host knows to be over after each of its calls that wait.
  [[nodiscard]] const std::vector<positions>& host() const { return host_; }
  // Without the waits for events.
  [[nodiscard]] const std::vector<std::vector<number>>& streams() const { return lists_; }

 private:
  void add_last(number stream, positions& to) const;
  void add_kind(const program& p, stream_kind kind, number device, positions& to) const;
  void add_stream(const program& p, number stream, positions& to) const;
  void add_operation(number operation, positions& to) const;
  void add(const program& p, number operation, const positions& host);
  void wait(const program& p, const host_wait& w, positions& host) const;

  const trace::trace& t_;
  std::vector<std::vector<number>> lists_;  // by stream, without waits
  std::vector<number> last_;                // by stream, be it a wait
  std::vector<number> streams_;             // by operation: where the program has it
  std::vector<std::uint32_t> place_;        // by operation: in its stream, from 1
  std::vector<positions> before_;           // by operation
  std::vector<positions> host_;
};

// An order of two that meet in memory which a change takes away: `later` came behind `earlier`, and
// with that behind so many of each stream.
struct lost_order {
  number earlier = none;
  number later = none;  // none: the host, which may use what `earlier` touches
  const device_order::positions& known;
};

// Tells of each of them until the answer is false. False: that, or there is too much to look at.
[[nodiscard]] bool for_each_lost(const trace::trace& t, const allocation_parts& parts,
                                 const device_order& as_it_is, const device_order& changed,
                                 const std::function<bool(const lost_order&)>& lost);

// Everything that meets in memory and has an order in one of them has it in the other. False, too,
// where there is too much to look at.
[[nodiscard]] bool keeps_order(const trace::trace& t, const allocation_parts& parts,
                               const device_order& as_it_is, const device_order& changed);

}  // namespace sb::analysis

// Copies that were issued and have not begun: an idle copy engine looks at the streams that have
// some for it, one after the other, and each takes time (the profile's copy_look_ns).
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/program.hpp"
#include "model/stream_rules.hpp"

namespace sb::analysis {

class waiting_copies {
 public:
  explicit waiting_copies(const program& p) : program_(p) {}

  void came(number operation) {
    if (has_queue(operation)) ++streams_[queue(operation)][found_in(program_.tasks[operation])];
  }

  // It begins: how many other streams have copies of its direction waiting.
  [[nodiscard]] std::uint32_t begins(number operation) {
    if (!has_queue(operation)) return 0;
    std::map<number, std::uint32_t>& streams = streams_[queue(operation)];
    const number stream = found_in(program_.tasks[operation]);
    if (const auto own = streams.find(stream); own != streams.end() && --own->second == 0)
      streams.erase(own);
    return static_cast<std::uint32_t>(streams.size() - streams.count(stream));
  }

 private:
  [[nodiscard]] bool has_queue(number operation) const {
    const command& c = program_.tasks[operation].what;
    const queue_class which = queue_of(c);
    return c.kind == command_kind::copy && program_.machine.connections != 1 &&
           (which == queue_class::host_to_device || which == queue_class::device_to_host);
  }
  using key = std::pair<number, queue_class>;
  [[nodiscard]] key queue(number operation) const {
    const task& t = program_.tasks[operation];
    return {program_.streams[t.stream].device, queue_of(t.what)};
  }

  const program& program_;
  std::map<key, std::map<number, std::uint32_t>> streams_;  // how many copies of each wait
};

}  // namespace sb::analysis

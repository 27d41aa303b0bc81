#include "analysis/captures.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/sort_stably.hpp"

namespace sb::analysis {

namespace {

using places = std::vector<std::uint32_t>;

void join(places& to, const places& from) {
  for (const std::uint32_t one : from)
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

// A launch comes to the first of each chain, then to the second of each.
std::vector<captured_node> level_by_level(const std::vector<captured_node>& chains) {
  std::vector<std::uint32_t> depths, order(chains.size()), place(chains.size());
  for (const captured_node& n : chains)
    depths.push_back(n.after.empty() ? 0 : depths[n.after.front()] + 1);
  std::iota(order.begin(), order.end(), 0);
  sort_stably(order, [&](std::uint32_t a, std::uint32_t b) { return depths[a] < depths[b]; });
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<captured_node> nodes;
  for (const std::uint32_t one : order) {
    nodes.push_back(chains[one]);
    for (std::uint32_t& other : nodes.back().after) other = place[other];
  }
  return nodes;
}

}  // namespace

std::vector<captured_node> captured_nodes(const program& p, const std::vector<step>& steps,
                                          const std::vector<std::size_t>& captured) {
  std::vector<captured_node> nodes;
  std::map<number, places> ends;     // by stream: what its next work comes behind
  std::map<number, places> records;  // by record: what it stands for
  bool has_events = false;
  for (const std::size_t i : captured) {
    for (const issue& k : steps[i].issues) {
      const task& one = p.tasks[k.operation];
      places& mine = ends[one.stream];
      has_events |=
          one.what.kind == command_kind::event_record || one.what.kind == command_kind::event_wait;
      if (one.what.kind == command_kind::event_record) {
        records[k.operation] = mine;
      } else if (one.what.kind == command_kind::event_wait) {
        join(mine, records[one.record]);
      } else {
        const auto place = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back({k.operation, std::exchange(mine, {place})});
      }
    }
  }
  return has_events ? nodes : level_by_level(nodes);
}

nanoseconds longest_chain(const program& p, const std::vector<captured_node>& nodes) {
  std::vector<nanoseconds> ends;
  nanoseconds longest = 0;
  for (const captured_node& n : nodes) {
    nanoseconds begin = 0;
    for (const std::uint32_t other : n.after) begin = std::max(begin, ends[other]);
    ends.push_back(begin + p.tasks[n.operation].duration);
    longest = std::max(longest, ends.back());
  }
  return longest;
}

}  // namespace sb::analysis

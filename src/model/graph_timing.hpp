// What graphs cost the host, by their nodes, and what their shape costs on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/command.hpp"
#include "model/timing_profile.hpp"

namespace sb {

// The nodes of a graph, as far as that decides about costs; they are added in the order in which a
// launch comes to them.
class graph_nodes {
 public:
  // `first`: it waits for nothing in the graph.
  void add(command_kind kind, std::uint64_t bytes, bool first);

  // Above what the call itself costs.
  [[nodiscard]] double instantiate_ns(const timing_profile& t) const;
  [[nodiscard]] double upload_ns(const timing_profile& t) const;
  [[nodiscard]] double launch_ns(const timing_profile& t) const;
  [[nodiscard]] double first_launch_ns(const timing_profile& t) const;  // above the others
  [[nodiscard]] double update_ns(const timing_profile& t) const;
  [[nodiscard]] double destroy_exec_ns(const timing_profile& t) const;
  [[nodiscard]] std::uint32_t firsts() const { return firsts_; }

 private:
  [[nodiscard]] double all() const { return kernels_ + copies_ + fills_ + functions_ + others_; }

  double kernels_ = 0, copies_ = 0, fills_ = 0, functions_ = 0, others_ = 0;
  double turns_ = 0;  // kernels again, behind something else
  std::uint32_t firsts_ = 0;
  bool last_is_kernel_ = false;
};

// How the nodes of a graph depend on each other, as far as that keeps them longer than the end of
// what they wait for. They are added in the order in which a launch comes to them.
class graph_shape {
 public:
  // `after`: numbers of earlier nodes.
  void add(command_kind kind, std::uint64_t bytes, std::span<const std::uint32_t> after);

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] const graph_nodes& nodes() const { return nodes_; }
  // When a launch has come to it: what the nodes up to it cost the host.
  [[nodiscard]] double late_ns(std::size_t node, const timing_profile& t) const {
    return places_[node].up_to.launch_ns(t);
  }
  // Between the end of what it waits for and its beginning, above what any two operations take.
  [[nodiscard]] double gap_ns(std::size_t node, const timing_profile& t) const;
  // It waits for nothing in the graph that works.
  [[nodiscard]] bool is_first(std::size_t node) const { return places_[node].first; }

 private:
  struct place {
    bool works = true;  // more than a place that others wait for
    bool first = false;
    bool joins = false;        // it waits for several
    std::uint32_t turn = 0;    // among the first, or among those behind the same node
    std::uint32_t behind = 0;  // so many have it as the only one that they wait for
    graph_nodes up_to;         // it and those before it
  };
  std::vector<place> places_;
  graph_nodes nodes_;
};

}  // namespace sb

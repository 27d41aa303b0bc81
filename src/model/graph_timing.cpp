#include "model/graph_timing.hpp"

#include <algorithm>

namespace sb {

void graph_nodes::add(command_kind kind, std::uint64_t bytes, bool first) {
  const bool kernel =
      kind == command_kind::kernel || (kind == command_kind::fill && bytes > small_fill_bytes);
  if (kernel) {
    if (kernels_ > 0 && !last_is_kernel_) ++turns_;
    ++kernels_;
  } else if (kind == command_kind::copy) {
    ++copies_;
  } else if (kind == command_kind::fill) {
    ++fills_;
  } else if (kind == command_kind::host_function) {
    ++functions_;
  } else {
    ++others_;
    return;
  }
  if (first) ++firsts_;
  last_is_kernel_ = kernel;
}

double graph_nodes::instantiate_ns(const timing_profile& t) const {
  return kernels_ * t.node.instantiate_kernel_ns + (all() - kernels_) * t.node.instantiate_ns;
}

double graph_nodes::upload_ns(const timing_profile& t) const {
  return kernels_ * t.node.upload_kernel_ns + (all() - kernels_) * t.node.upload_ns;
}

double graph_nodes::first_launch_ns(const timing_profile& t) const {
  return kernels_ * t.node.upload_kernel_ns;
}

double graph_nodes::launch_ns(const timing_profile& t) const {
  return copies_ * t.node.launch_copy_ns + fills_ * t.node.launch_fill_ns +
         functions_ * t.node.launch_host_ns + turns_ * t.node.launch_turn_ns +
         (firsts_ > 1 ? firsts_ - 1 : 0) * t.node.launch_first_ns;
}

double graph_nodes::update_ns(const timing_profile& t) const { return all() * t.node.update_ns; }

double graph_nodes::destroy_exec_ns(const timing_profile& t) const {
  return all() * t.node.destroy_exec_ns;
}

void graph_shape::add(command_kind kind, std::uint64_t bytes,
                      std::span<const std::uint32_t> after) {
  place p;
  p.works = kind != command_kind::marker;
  p.joins = after.size() > 1;
  p.first = std::all_of(after.begin(), after.end(),
                        [&](std::uint32_t i) { return places_[i].first && !places_[i].works; });
  if (p.first)
    p.turn = nodes_.firsts();
  else if (!p.joins)
    p.turn = places_[after.front()].behind++;
  nodes_.add(kind, bytes, p.first);
  p.up_to = nodes_;
  places_.push_back(p);
}

double graph_shape::gap_ns(std::size_t node, const timing_profile& t) const {
  const place& p = places_[node];
  double gap = p.turn * t.graph_spread_ns;
  if (p.joins && !p.first && nodes_.firsts() > 1) gap += t.graph_join_ns;
  // More than two that wait for nothing go in up to four groups, the first of which is late, too.
  if (const std::uint32_t firsts = nodes_.firsts(); p.first && firsts > 2) {
    const std::uint32_t groups = std::min(4u, (firsts + 1) / 2);
    const std::uint32_t each = (firsts + groups - 1) / groups;
    gap += (1.5 + p.turn / each) * t.graph_turn_ns;
  }
  return gap;
}

}  // namespace sb

#include "model/graph_timing.hpp"

namespace sb {

void graph_nodes::add(command_kind kind, std::uint64_t bytes) {
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
         functions_ * t.node.launch_host_ns + turns_ * t.node.launch_turn_ns;
}

double graph_nodes::update_ns(const timing_profile& t) const { return all() * t.node.update_ns; }

double graph_nodes::destroy_exec_ns(const timing_profile& t) const {
  return all() * t.node.destroy_exec_ns;
}

}  // namespace sb

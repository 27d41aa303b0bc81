// What graphs cost the host, by their nodes.
#pragma once

#include <cstdint>

#include "model/command.hpp"
#include "model/timing_profile.hpp"

namespace sb {

// The nodes of a graph, as far as that decides about costs; they are added in the order in which a
// launch comes to them.
class graph_nodes {
 public:
  void add(command_kind kind, std::uint64_t bytes = 0);

  // Above what the call itself costs.
  [[nodiscard]] double instantiate_ns(const timing_profile& t) const;
  [[nodiscard]] double upload_ns(const timing_profile& t) const;
  [[nodiscard]] double launch_ns(const timing_profile& t) const;
  [[nodiscard]] double first_launch_ns(const timing_profile& t) const;  // above the others
  [[nodiscard]] double update_ns(const timing_profile& t) const;
  [[nodiscard]] double destroy_exec_ns(const timing_profile& t) const;

 private:
  [[nodiscard]] double all() const { return kernels_ + copies_ + fills_ + functions_ + others_; }

  double kernels_ = 0, copies_ = 0, fills_ = 0, functions_ = 0, others_ = 0;
  double turns_ = 0;  // kernels again, behind something else
  bool last_is_kernel_ = false;
};

}  // namespace sb

#include "compiler/pass/convergence.hpp"

#include <utility>

namespace sb::pass {

namespace {

// Nodes in the order in which a walk against the edges finishes with them.
std::vector<int> finishing_order(const successor_lists& predecessors, int root) {
  std::vector<int> order;
  std::vector<bool> seen(predecessors.size());
  std::vector<std::pair<int, std::size_t>> path = {{root, 0}};
  seen[root] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == predecessors[node].size()) {
      order.push_back(node);
      path.pop_back();
      continue;
    }
    int before = predecessors[node][next++];
    if (!seen[before]) {
      seen[before] = true;
      path.emplace_back(before, 0);
    }
  }
  return order;
}

}  // namespace

std::vector<int> immediate_post_dominators(const successor_lists& successors, int root) {
  successor_lists predecessors(successors.size());
  for (int node = 0; node < static_cast<int>(successors.size()); ++node) {
    for (int next : successors[node]) {
      predecessors[next].push_back(node);
    }
  }
  std::vector<int> order = finishing_order(predecessors, root);
  std::vector<int> rank(successors.size(), -1);
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    rank[order[i]] = i;
  }
  std::vector<int> above(successors.size(), -1);
  above[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = static_cast<int>(order.size()) - 2; i >= 0; --i) {
      int node = order[i];
      int meeting = -1;
      for (int next : successors[node]) {
        if (rank[next] < 0 || above[next] < 0) {
          continue;
        }
        int other = next;
        while (meeting >= 0 && meeting != other) {
          if (rank[meeting] < rank[other]) {
            meeting = above[meeting];
          } else {
            other = above[other];
          }
        }
        meeting = other;
      }
      if (above[node] != meeting) {
        above[node] = meeting;
        changed = true;
      }
    }
  }
  above[root] = -1;
  return above;
}

}  // namespace sb::pass

// Where the paths of a graph meet again.
#pragma once

#include <vector>

namespace sb::pass {

using successor_lists = std::vector<std::vector<int>>;

// The immediate post-dominator of every node, as seen from `root`, where all paths end. -1 for the
// root and for nodes that do not reach it: a path that ends in a trap takes no part.
std::vector<int> immediate_post_dominators(const successor_lists& successors, int root);

}  // namespace sb::pass

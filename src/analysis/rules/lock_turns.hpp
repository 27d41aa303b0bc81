// Locks of the program that threads wait for, as far as the trace says: who waited for whom. A
// change has such a lock taken anew, in the order in which threads then come.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "analysis/rules/rules.hpp"

namespace sb::analysis {

// Where a call is made: a program takes its lock in front of the same call each time.
using call_site = std::pair<number, std::string>;

[[nodiscard]] call_site site_of(const evidence& e, const step& s);
[[nodiscard]] bool is_for_lock(const thread_pause& p);

// Threads that have a lock in common, as far as they waited for each other.
struct common_lock {
  std::set<number> threads;
  std::set<call_site> taken;     // in front of these
  std::set<call_site> released;  // where these begin, or end
};

enum class lets_go { in_front, behind };

// The lock `which` is what threads wait for there: also where nobody waited for it before, as calls
// of the same place take it.
void take_anew(const evidence& e, const common_lock& lock, lets_go where, number which, program& p);

}  // namespace sb::analysis

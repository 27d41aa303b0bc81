// What is known of the processor that kernels are compiled on, and run on as a rule.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/Host.h>

namespace sb::pass {

// A Neoverse N1, or the core that it comes from: half of the units of later ones, and a first cache
// whose places rounds of one grid tend to share.
inline bool is_neoverse_n1() {
  static const bool is_one = [] {
    const llvm::StringRef core = llvm::sys::getHostCPUName();
    return core == "neoverse-n1" || core == "cortex-a76";
  }();
  return is_one;
}

}  // namespace sb::pass

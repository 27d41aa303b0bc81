// The bitcode of src/compiler/device_maths, as the plugin carries it.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace sb::pass {

llvm::StringRef maths_bitcode();

}  // namespace sb::pass

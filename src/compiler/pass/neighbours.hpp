// Where threads that are neighbours along x find their data.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Value.h>

#include <cstdint>
#include <optional>

#include "compiler/pass/uniformity.hpp"

namespace sb::pass {

// How many bytes apart the places are that neighbours use; nothing if that is not known.
std::optional<std::int64_t> distance_of_neighbours(const llvm::Value* pointer,
                                                   const uniformity& uniform,
                                                   const llvm::DataLayout& layout);

}  // namespace sb::pass

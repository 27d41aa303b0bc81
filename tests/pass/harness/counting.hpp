// What counted versions of kernels tell.
#pragma once

#include "machine.hpp"

namespace sb::test {

// From now on they tell it to `to`.
void set_counting(abi::device_table& table, outcome& to);

}  // namespace sb::test

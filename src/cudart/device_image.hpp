// What can be read from an embedded device image without loading it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cudart {

// Names of the __managed__ variables of an image: it has a symbol NAME.sb_managed for each.
std::vector<std::string> managed_variables(const void* elf);

// Copies the initial value of a variable of the image; zeros where the image says nothing.
void copy_initial_value(const void* elf, std::string_view name, void* to, std::size_t bytes);

}  // namespace sb::cudart

// The device image in a host object that was compiled without it.
//
// clang embeds the file that it is given as section .nv_fatbin. Given an empty one, the host pass
// need not wait for the device's: the section is filled when both are there.
#pragma once

#include <string>
#include <string_view>

#include "text.hpp"

namespace sb::nvcc {

// Whether an object that is compiled with these options of the host compiler can be filled: not if
// it is no object of machine code, if the sanitizer has put something around the empty section, or
// if the compiler names other files after it.
[[nodiscard]] bool can_be_filled(const arguments& host_options);

// The object with the image as its section .nv_fatbin, which must be empty. An object without that
// section, which a file without kernels and device variables has, stays as it is. Throws
// fatal_error.
[[nodiscard]] std::string filled_object(std::string object, std::string_view image);

}  // namespace sb::nvcc

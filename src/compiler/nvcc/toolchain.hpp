// Where things are: the toolkit that this executable belongs to, clang 19, lld, the host's
// libraries.
#pragma once

#include <string>

#include "options.hpp"
#include "text.hpp"

namespace sb::nvcc {

struct toolchain {
  std::string root;       // of the toolkit, found from the executable: it can be moved as a whole
  std::string include;    // its headers
  std::string library;    // its libraries, for the target
  std::string pass;       // the LLVM pass plugin of device code
  std::string host_pass;  // and of host code
  std::string host_link;  // this executable under the name that means: link
  std::string linker_of_bitcode;  // merges relocatable device code

  std::string clang;  // clang++ of version 19
  std::string lld;    // ld.lld

  std::string triple;        // given by STREAMBED_TARGET, else empty: this machine
  std::string architecture;  // aarch64 or x86_64
  bool this_machine = true;  // the target is what we run on

  // What device images may refer to: full names of the C, maths and support libraries.
  [[nodiscard]] arguments device_libraries() const;
};

// Finds the toolkit only; enough for --version and the lines that -v prints.
[[nodiscard]] toolchain find_toolkit();

// Finds the tools as well. Throws fatal_error that says what to install.
void find_tools(toolchain& tools);

// The compiler named by -ccbin (a program, or a directory that holds one), or clang: for C and C++.
[[nodiscard]] std::string host_compiler(const toolchain& tools, const options& o);

// What links programs: clang under the name host-link, or the wrapper (mpicxx, say) given by
// -ccbin.
[[nodiscard]] std::string host_linker(const toolchain& tools, const options& o);

// Whether the folder holds the headers or the libraries of another CUDA toolkit: Makefiles name
// /usr/local/cuda, and nothing from there fits what this one compiles.
[[nodiscard]] bool has_other_headers(const std::string& folder);
[[nodiscard]] bool has_other_libraries(const std::string& folder);
// From where the environment says that clang looks for headers as well (CPATH ...).
void leave_out_other_headers();

// What linking begins with. The folders come before those of other toolkits; the run path also
// before LD_LIBRARY_PATH, which names these as often.
[[nodiscard]] arguments library_folders(const toolchain& tools);
[[nodiscard]] arguments run_path(const toolchain& tools);

// As host-link: calls clang with these arguments and the run path of libcudart.so. Does not return.
[[noreturn]] void become_host_linker(const arguments& args);

}  // namespace sb::nvcc

// Where a call stands in the program.
#include "cudart/context.hpp"

namespace {

struct place {
  const char* file;
  unsigned line;
};

}  // namespace

// Written before each call by programs that nvcc compiled (src/compiler/host_pass).
SB_API thread_local const place* __cudaStreambedPlace;
thread_local const place* __cudaStreambedPlace = nullptr;

namespace sb::cudart {

void tell_place() {
  if (const place* at = std::exchange(__cudaStreambedPlace, nullptr); at != nullptr)
    the_engine().call_place(at->file, at->line);
}

}  // namespace sb::cudart

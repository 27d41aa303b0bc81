// Where a call stands in the program.
#include "cudart/context.hpp"

namespace {

struct place {
  const char* file;
  unsigned line;
};

thread_local const place* next_call = nullptr;

}  // namespace

// Called before each call of the API by programs that nvcc compiled (src/compiler/host_pass).
SB_API void __cudaStreambedCallAt(const place* at);
void __cudaStreambedCallAt(const place* at) { next_call = at; }

namespace sb::cudart {

void tell_place(engine::call_frame& frame) {
  if (const place* at = std::exchange(next_call, nullptr); at != nullptr)
    frame.stands_at(at->file, at->line);
}

}  // namespace sb::cudart

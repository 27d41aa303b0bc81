// An entry point whose body is another one, or a function that several share: traces and modelled
// time know the call by the name that the program wrote. What it calls is its own business.
#pragma once

#include "cudart/context.hpp"

namespace sb::cudart {

template <class Body>
cudaError_t as_call(Body&& body, const char* name = __builtin_FUNCTION()) noexcept {
  if (!engine::call_frame::observed() || engine::forked_away()) return body();
  engine::call_frame frame(name);
  tell_place(frame);
  return to_cuda(frame, body());
}

}  // namespace sb::cudart

// Errors: the thread's last one, names and descriptions.
#include "cudart/context.hpp"
#include "cudart/error_texts.hpp"

namespace sb::cudart {
namespace {

constexpr const char* unrecognized = "unrecognized error code";

}  // namespace

SB_API cudaError_t CUDARTAPI cudaGetLastError() {
  return std::exchange(self().last_error, cudaSuccess);
}

SB_API cudaError_t CUDARTAPI cudaPeekAtLastError() { return self().last_error; }

SB_API const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
  const error_text* text = find_error(error);
  return text != nullptr ? text->name : unrecognized;
}

SB_API const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  const error_text* text = find_error(error);
  return text != nullptr ? text->description : unrecognized;
}

}  // namespace sb::cudart

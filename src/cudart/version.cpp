// Versions. The driver is one that runs exactly this runtime.
#include "cudart/context.hpp"

namespace sb::cudart {
namespace {

// Without the frame of other calls: versions are told even where no device can be used.
cudaError_t tell(int* out, int version) {
  if (out == nullptr) return answer(status::invalid_value);
  *out = version;
  return cudaSuccess;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
  return tell(version, CUDART_VERSION);
}

SB_API cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
  return tell(version, CUDART_VERSION);
}

}  // namespace sb::cudart

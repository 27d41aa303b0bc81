// Versions. The driver is one that runs exactly this runtime.
#include "cudart/context.hpp"

namespace sb::cudart {
namespace {

cudaError_t tell(int* out, int version) {
  return entry(call_kind::plain, [&]() -> status {
    if (out == nullptr) return status::invalid_value;
    *out = version;
    return status::success;
  });
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
  return tell(version, CUDART_VERSION);
}

SB_API cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
  return tell(version, CUDART_VERSION);
}

}  // namespace sb::cudart

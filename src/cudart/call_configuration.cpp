// The two halves of `<<< >>>`, called by what the compiler emits: ours by the name that ends in At.
#include <cstring>

#include "cudart/context.hpp"

namespace sb::cudart {
namespace {

// Between `<<< >>>` and the launch stub the configuration waits here, innermost last: evaluating
// the arguments of a launch may launch something else. In plain numbers, so that there is nothing
// to construct when a thread begins, and nothing to destroy: it may launch until its very end.
// The numbers are written and read in pieces of the same length: a processor hands on at once what
// it wrote just before only then.
struct packed_dim3 {
  std::uint64_t xy;
  std::uint32_t z;
};
struct call_configuration {
  packed_dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
  const char* file;
  unsigned line;
};
constexpr unsigned most = 64;  // launches within launches; more than anybody writes

struct configurations {
  unsigned waiting;
  call_configuration at[most];
};
constinit thread_local configurations own{};

packed_dim3 pack(const dim3& d) { return {d.x | std::uint64_t{d.y} << 32, d.z}; }
void unpack(const packed_dim3& from, dim3& d) {
  std::memcpy(&d.x, &from.xy, sizeof from.xy);
  d.z = from.z;
}

}  // namespace

SB_API __attribute__((hot)) unsigned CUDARTAPI __cudaPushCallConfigurationAt(
    dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const char* file, unsigned line) {
  configurations& all = own;
  if (all.waiting == most) return 1;
  all.at[all.waiting++] = {pack(grid), pack(block), shared, stream, file, line};
  return 0;
}

SB_API unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                      cudaStream_t stream) {
  return __cudaPushCallConfigurationAt(grid, block, shared, stream, nullptr, 0);
}

SB_API __attribute__((hot)) cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* grid,
                                                                             dim3* block,
                                                                             size_t* shared,
                                                                             void* stream) {
  configurations& all = own;
  if (all.waiting == 0) return cudaErrorInvalidConfiguration;
  const call_configuration& top = all.at[--all.waiting];
  unpack(top.grid, *grid);
  unpack(top.block, *block);
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  self().launching_at = {top.file, top.line, nullptr};
  return cudaSuccess;
}

}  // namespace sb::cudart

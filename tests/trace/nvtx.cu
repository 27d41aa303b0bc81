// Every sort of annotation; prints the levels of two pushes and of the pops.
#include <nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>

#include <cstdio>
#include <nvtx3/nvtx3.hpp>
#include <thread>

struct library {
  static constexpr char const* name{"library"};
};

__global__ void nothing() {}

void function() { NVTX3_FUNC_RANGE_IN(library); }

int main() {
  nvtxNameOsThreadA(static_cast<unsigned>(pthread_self()), "the main one");
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvtxNameCudaStreamA(stream, "copies");

  const int outer = nvtxRangePushA("outer");
  nvtxEventAttributes_t inner = {};
  inner.version = NVTX_VERSION;
  inner.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  inner.colorType = NVTX_COLOR_ARGB;
  inner.color = 0xff76b900;
  inner.category = 7;
  inner.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  inner.message.unicode = L"inn\u00e9r";
  nvtxNameCategoryA(7, "phase");
  const int level = nvtxRangePushEx(&inner);
  nothing<<<1, 1, 0, stream>>>();
  const int popped = nvtxRangePop();
  const int last = nvtxRangePop();
  std::printf("%d %d %d %d\n", outer, level, popped, last);

  const nvtxRangeId_t crossing = nvtxRangeStartA("crossing");
  std::thread([&] {
    nvtxRangeEnd(crossing);
    nvtxMarkA("in a thread");
  }).join();
  function();
  nvtx3::registered_string_in<library> registered{"registered"};
  {
    nvtx3::scoped_range_in<library> range{registered, nvtx3::rgb{1, 2, 3}};
    nvtx3::mark_in<library>("marked", nvtx3::payload{1});
  }
  nvtxRangePushA("open at the end");
  return cudaDeviceSynchronize();
}

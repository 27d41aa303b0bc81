// Page-locked ("pinned") against ordinary ("pageable") host memory.
//
// cudaMemcpyAsync from pinned memory only enqueues: the copy engine reads the memory later, so the
// host must leave it alone until the copy is done. From pageable memory CUDA first takes a snapshot
// into a staging buffer of its own; small copies return at once and the host may overwrite its
// memory straight away.
#include <cstring>
#include <vector>

#include "common.h"

int main() {
  const size_t n = 64 << 10;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  char *pinned, *device, *back;
  CHECK(cudaMallocHost(&pinned, n));
  CHECK(cudaMallocHost(&back, n));
  CHECK(cudaMalloc(&device, n));
  std::vector<char> pageable(n);

  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CHECK(cudaPointerGetAttributes(&attributes, pageable.data()));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);

  // The stream is held, a copy is issued, the host then overwrites the source: which value arrives?
  auto arrives = [&](char* source) {
    gate hold;
    std::memset(source, 1, n);
    hold.close(stream);
    CHECK(cudaMemcpyAsync(device, source, n, cudaMemcpyHostToDevice, stream));
    std::memset(source, 2, n);
    hold.open();
    CHECK(cudaMemcpyAsync(back, device, n, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (size_t i = 1; i < n; ++i) EXPECT(back[i] == back[0]);
    return static_cast<int>(back[0]);
  };
  int from_pageable = arrives(pageable.data());
  int from_pinned = arrives(pinned);
  std::printf("written 1, copy issued, then written 2: pageable delivers %d, pinned delivers %d\n",
              from_pageable, from_pinned);
  EXPECT(from_pageable == 1);
  EXPECT(from_pinned == 2);

  // Ordinary memory can be pinned afterwards; it then behaves like memory from cudaMallocHost.
  CHECK(cudaHostRegister(pageable.data(), n, cudaHostRegisterDefault));
  EXPECT(arrives(pageable.data()) == 2);
  CHECK(cudaHostUnregister(pageable.data()));
  EXPECT(arrives(pageable.data()) == 1);
  std::printf("cudaHostRegister makes pageable memory pinned, cudaHostUnregister undoes it\n");

  CHECK(cudaFree(device));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(back));
  CHECK(cudaStreamDestroy(stream));
  std::printf("ok\n");
  return 0;
}

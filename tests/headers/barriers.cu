// cuda::barrier and cuda::pipeline in kernels: what a thread reads after the hand-over is what
// another wrote.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Neighbours exchange through shared memory, round after round, with one barrier.
__global__ void exchange(int* out, int rounds) {
  __shared__ block_barrier barrier;
  __shared__ int values[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int value = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    values[threadIdx.x] = value;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    value = values[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = value;
}

// A thread that drops out is not waited for any more.
__global__ void drop(int* out) {
  __shared__ block_barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x % 2) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();
  atomicAdd(out, 1);
}

constexpr int stages = 3;

// One warp fetches, three add up.
__global__ void roles(const int* in, long long* sum, int batches) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ int buffer[stages][96];
  const auto block = cg::this_thread_block();
  const bool producer = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(
      block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int batch = 0; batch < batches; ++batch) {
    int* stage = buffer[batch % stages];
    if (producer) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < 96; i += 32) {
        cuda::memcpy_async(&stage[i], &in[batch * 96 + i], sizeof(int), pipe);
      }
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      atomicAdd(reinterpret_cast<unsigned long long*>(sum),
                static_cast<unsigned long long>(stage[threadIdx.x - 32]) * (batch + 1));
      pipe.consumer_release();
    }
  }
}

// Every thread fetches for all; then a pipeline of a thread's own.
__global__ void unified(const int* in, long long* sum, int batches) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int buffer[2][100];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  auto own = cuda::make_pipeline();
  for (int batch = 0; batch < batches; ++batch) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, buffer[batch % 2], in + batch * 100, cuda::aligned_size_t<16>(400),
                       pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    int reversed = 0;
    if (threadIdx.x < 100) {
      own.producer_acquire();
      cuda::memcpy_async(&reversed, &buffer[batch % 2][99 - threadIdx.x], sizeof(int), own);
      own.producer_commit();
      own.consumer_wait();
      own.consumer_release();
      atomicAdd(reinterpret_cast<unsigned long long*>(sum),
                static_cast<unsigned long long>(reversed) * threadIdx.x);
    }
    pipe.consumer_release();
  }
}

static int failures = 0;
static void check(const char* what, long long got, long long wanted) {
  if (got == wanted) return;
  ++failures;
  std::printf("%s: %lld, not %lld\n", what, got, wanted);
}

int main() {
  int *in = nullptr, *out = nullptr;
  long long* sum = nullptr;
  constexpr int count = 960;
  cudaMallocManaged(&in, count * sizeof(int));
  cudaMallocManaged(&out, 128 * sizeof(int));
  cudaMallocManaged(&sum, sizeof(long long));
  for (int i = 0; i < count; ++i) in[i] = i * i % 1009;

  exchange<<<1, 128>>>(out, 40);
  check("exchange", cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 128; ++i) check("exchange", out[i], (i + 40) % 128);

  out[0] = 0;
  drop<<<2, 64>>>(out);
  check("drop", cudaDeviceSynchronize(), cudaSuccess);
  check("drop", out[0], 64);

  long long wanted = 0;
  for (int batch = 0; batch < 10; ++batch) {
    for (int i = 0; i < 96; ++i) wanted += static_cast<long long>(in[batch * 96 + i]) * (batch + 1);
  }
  *sum = 0;
  roles<<<1, 128>>>(in, sum, 10);
  check("roles", cudaDeviceSynchronize(), cudaSuccess);
  check("roles", *sum, wanted);

  wanted = 0;
  for (int batch = 0; batch < 9; ++batch) {
    for (int i = 0; i < 100; ++i) wanted += static_cast<long long>(in[batch * 100 + 99 - i]) * i;
  }
  *sum = 0;
  unified<<<1, 128>>>(in, sum, 9);
  check("unified", cudaDeviceSynchronize(), cudaSuccess);
  check("unified", *sum, wanted);

  std::printf("%d differences\n", failures);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Kernels that reach the host's memory: pinned memory that is mapped, and managed memory that
// moves.
#include <cstring>

#include "unseen/measure.h"

namespace {

constexpr unsigned wide = 256;

__device__ std::size_t index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <class T>
__global__ void copy_one(const T* in, T* out) {
  out[index()] = in[index()];
}
template <class T>
__global__ void copy_all(const T* in, T* out, std::size_t n) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = index(); i < n; i += step) out[i] = in[i];
}
__global__ void add_one(float* at) { at[index()] += 1; }
__global__ void fill_one(float* out) { out[index()] = 1; }
__global__ void read_again(const float* in, float* out, std::size_t n) {
  float sum = 0;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  out[index()] = sum;
}
__global__ void read_strided(const float* in, float* out, unsigned stride) {
  out[index()] = in[index() * stride];
}
__global__ void follow(const unsigned* next, unsigned* out, int steps) {
  unsigned at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];
  *out = at;
}
__global__ void count(unsigned* at) { atomicAdd(at + (index() & 1023), 1u); }

unsigned blocks_for(std::size_t bytes, std::size_t each) {
  return static_cast<unsigned>(bytes / each / wide);
}
std::string size_of(std::size_t bytes) {
  return bytes < mib ? std::to_string(bytes / kib) + "K" : std::to_string(bytes / mib) + "M";
}

void mapped(float* host, float* device) {
  const auto* host4 = reinterpret_cast<const float4*>(host);
  for (const std::size_t bytes : {4 * kib, 64 * kib, mib, 4 * mib, 16 * mib, 64 * mib}) {
    const std::string n = "." + size_of(bytes);
    wall("mapped.read" + n, [&] { copy_one<<<blocks_for(bytes, 4), wide>>>(host, device); });
    wall("mapped.read4" + n, [&] {
      copy_one<<<blocks_for(bytes, 16), wide>>>(host4, reinterpret_cast<float4*>(device));
    });
    wall("mapped.write" + n, [&] { copy_one<<<blocks_for(bytes, 4), wide>>>(device, host); });
    wall("mapped.both" + n, [&] { add_one<<<blocks_for(bytes, 4), wide>>>(host); });
  }
  for (const std::size_t bytes : {mib, 16 * mib}) {
    const std::string n = "." + size_of(bytes);
    wall("mapped.read_loop" + n, [&] { copy_all<<<132, wide>>>(host, device, bytes / 4); });
    wall("mapped.read_few" + n, [&] { copy_all<<<8, wide>>>(host, device, bytes / 4); });
    wall("mapped.read_one" + n, [&] { copy_all<<<1, wide>>>(host, device, bytes / 16); });
    wall("mapped.write_few" + n, [&] { copy_all<<<8, wide>>>(device, host, bytes / 4); });
  }
  for (const std::size_t bytes : {16 * kib, 64 * kib}) {
    const std::string n = "." + size_of(bytes);
    wall("mapped.table" + n, [&] { read_again<<<132, wide>>>(host, device, bytes / 4); });
  }
  for (const unsigned stride : {2u, 8u, 32u})
    wall("mapped.stride" + std::to_string(stride),
         [&] { read_strided<<<1024, wide>>>(host, device, stride); });
  std::memset(host, 0, 64 * kib);
  wall("mapped.follow.100", [&] {
    follow<<<1, 1>>>(reinterpret_cast<unsigned*>(host), reinterpret_cast<unsigned*>(device), 100);
  });
  // Lines of their own.
  auto* next = reinterpret_cast<unsigned*>(host);
  for (unsigned i = 0; i < 1024; ++i) next[i * 32] = (i + 1) % 1024 * 32;
  wall("mapped.follow_lines.100",
       [&] { follow<<<1, 1>>>(next, reinterpret_cast<unsigned*>(device), 100); });
  wall("mapped.atomics.64K", [&] { count<<<256, wide>>>(next); });
}

/// What the kernel takes after `before`, every time with memory of its own.
template <class Before, class Work>
void fresh(const std::string& key, std::size_t bytes, Before before, Work work) {
  told(key, [&] {
    float* p;
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&p), bytes));
    before(p);
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    work(p);
    MUST(cudaDeviceSynchronize());
    const double us = microseconds(begin, clk::now());
    MUST(cudaFree(p));
    return us;
  });
}

cudaMemLocation on_device() { return {cudaMemLocationTypeDevice, 0}; }
cudaMemLocation on_host() { return {cudaMemLocationTypeHost, 0}; }

/// One word of each page, as the processor's part is small against the pages' way.
float look(const float* p, std::size_t bytes) {
  float sum = 0;
  for (std::size_t i = 0; i < bytes / 4; i += 1024)
    sum += *const_cast<const volatile float*>(p + i);
  return sum;
}
void touch(float* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / 4; i += 1024) *const_cast<volatile float*>(p + i) = 1;
}

void managed(float* device) {
  for (const std::size_t bytes : {64 * kib, mib, 4 * mib, 16 * mib, 48 * mib}) {
    const std::string n = "." + size_of(bytes);
    const unsigned blocks = blocks_for(bytes, 4);
    const auto nothing_before = [](float*) {};
    const auto by_host = [&](float* p) { touch(p, bytes); };
    const auto by_device = [&](float* p) { fill_one<<<blocks, wide>>>(p); };
    const auto read = [&](float* p) { copy_one<<<blocks, wide>>>(p, device); };
    fresh("managed.new.write" + n, bytes, nothing_before,
          [&](float* p) { fill_one<<<blocks, wide>>>(p); });
    fresh("managed.from_host.read" + n, bytes, by_host, read);
    fresh("managed.from_host.update" + n, bytes, by_host,
          [&](float* p) { add_one<<<blocks, wide>>>(p); });
    fresh("managed.there.read" + n, bytes, by_device, read);
    fresh("managed.from_host.few" + n, bytes, by_host,
          [&](float* p) { copy_all<<<8, wide>>>(p, device, bytes / 4); });
    fresh("managed.prefetch" + n, bytes, by_host,
          [&](float* p) { MUST(cudaMemPrefetchAsync(p, bytes, on_device(), 0, nullptr)); });
    fresh("managed.prefetch_new" + n, bytes, nothing_before,
          [&](float* p) { MUST(cudaMemPrefetchAsync(p, bytes, on_device(), 0, nullptr)); });
    told("managed.prefetch_call" + n, [&] {
      float* p;
      MUST(cudaMallocManaged(reinterpret_cast<void**>(&p), bytes));
      touch(p, bytes);
      wait_cycles<<<1, 1>>>(5000 * microsecond);
      const auto begin = clk::now();
      MUST(cudaMemPrefetchAsync(p, bytes, on_device(), 0, nullptr));
      const double us = microseconds(begin, clk::now());
      MUST(cudaDeviceSynchronize());
      MUST(cudaFree(p));
      return us;
    });
    fresh("managed.prefetch_read" + n, bytes, by_host, [&](float* p) {
      MUST(cudaMemPrefetchAsync(p, bytes, on_device(), 0, nullptr));
      copy_one<<<blocks, wide>>>(p, device);
    });
    fresh("managed.prefetch_back" + n, bytes, by_device,
          [&](float* p) { MUST(cudaMemPrefetchAsync(p, bytes, on_host(), 0, nullptr)); });
    fresh("managed.prefetch_there" + n, bytes, by_device,
          [&](float* p) { MUST(cudaMemPrefetchAsync(p, bytes, on_device(), 0, nullptr)); });
    fresh("managed.host_look" + n, bytes, by_device, [&](float* p) { look(p, bytes); });
    fresh("managed.host_touch" + n, bytes, by_device, [&](float* p) { touch(p, bytes); });
    fresh("managed.host_new" + n, bytes, nothing_before, [&](float* p) { touch(p, bytes); });
    fresh("managed.host_again" + n, bytes, by_host, [&](float* p) { touch(p, bytes); });
    fresh("managed.copy_to" + n, bytes, nothing_before,
          [&](float* p) { MUST(cudaMemcpy(p, device, bytes, cudaMemcpyDefault)); });
    fresh("managed.copy_from_host" + n, bytes, by_host,
          [&](float* p) { MUST(cudaMemcpy(device, p, bytes, cudaMemcpyDefault)); });
    fresh("managed.fill" + n, bytes, by_host, [&](float* p) { MUST(cudaMemset(p, 0, bytes)); });
  }
  // To and fro: the second time and later.
  for (const std::size_t bytes : {mib, 8 * mib}) {
    float* p;
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&p), bytes));
    touch(p, bytes);
    wall("managed.rounds." + size_of(bytes), [&] {
      for (int i = 0; i < 5; ++i) {
        add_one<<<blocks_for(bytes, 4), wide>>>(p);
        MUST(cudaDeviceSynchronize());
        touch(p, bytes);
      }
    });
    // A part of it.
    wall("managed.part." + size_of(bytes), [&] {
      p[0] = 1;
      add_one<<<blocks_for(bytes, 4), wide>>>(p);
    });
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(p));
  }
  told("managed.alloc.1M", [&] {
    const auto begin = clk::now();
    float* p;
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&p), mib));
    const double us = microseconds(begin, clk::now());
    MUST(cudaFree(p));
    return us;
  });
  told("managed.free.4M", [&] {
    float* p;
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&p), 4 * mib));
    fill_one<<<blocks_for(4 * mib, 4), wide>>>(p);
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    MUST(cudaFree(p));
    return microseconds(begin, clk::now());
  });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  float *host, *device;
  constexpr std::size_t bytes = 64 * mib;
  MUST(cudaHostAlloc(reinterpret_cast<void**>(&host), bytes, cudaHostAllocMapped));
  MUST(cudaMalloc(reinterpret_cast<void**>(&device), bytes));
  std::memset(host, 0, bytes);
  MUST(cudaMemset(device, 0, bytes));
  mapped(host, device);
  managed(device);
  return end();
}

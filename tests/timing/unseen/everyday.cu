// What programs do that reach the host's memory, meet at one address or launch from several
// threads; and chains of small things.
#include <cstring>
#include <functional>
#include <thread>

#include "measure.h"

namespace {

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void count_large(const float* in, int n, float limit, unsigned* many) {
  const int i = index();
  if (i < n && in[i] > limit) atomicAdd(many, 1u);
}
__global__ void pick_large(const float* in, int n, float limit, unsigned* many, float* out) {
  const int i = index();
  if (i < n && in[i] > limit) out[atomicAdd(many, 1u)] = in[i];
}
__global__ void sum_all(const float* in, int n, float* sum) {
  const int i = index();
  if (i < n) atomicAdd(sum, in[i]);
}
__global__ void sum_ints(const int* in, int n, int* sum) {
  for (int i = index(); i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, in[i] & 15);
}
__global__ void greatest(const int* in, int n, int* most) {
  const int i = index();
  if (i < n) atomicMax(most, in[i]);
}
__global__ void count_bytes(const unsigned char* in, int n, unsigned* bins) {
  for (int i = index(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
}
__global__ void make(float* out, int n, unsigned kind) {
  const int i = index();
  if (i < n) out[i] = kind == 0 ? 1.0f : static_cast<float>((i * 2654435761u >> 8) % 1000) * 0.001f;
}
__global__ void make_bytes(unsigned char* out, int n, unsigned most) {
  const int i = index();
  if (i < n) out[i] = static_cast<unsigned char>((i * 2654435761u >> 8) % most);
}
__global__ void saxpy(const float* x, float* y, int n) {
  const int i = index();
  if (i < n) y[i] = 2 * x[i] + y[i];
}
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = index();
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void divide(const double* a, const double* b, double* c, int n) {
  const int i = index();
  if (i < n) c[i] = a[i] / b[i];
}
__global__ void divide_often(double* out, double x, int loops) {
  double sum = index() + 1;
  for (int i = 0; i < loops; ++i) sum = x / sum + 1;
  out[index()] = sum;
}
__global__ void newton(double* out, const double* in, int n) {
  const int i = index();
  if (i >= n) return;
  double x = in[i] + 2, y = x;
  for (int k = 0; k < 6; ++k) y = 0.5 * (y + x / y);
  out[i] = y;
}

int grid(int n) { return (n + 255) / 256; }

struct buffers {
  float *a, *b, *c;
};

void meeting(const buffers& m) {
  auto* counter = reinterpret_cast<unsigned*>(m.c);
  for (const int n : {300'000, 3'000'000}) {
    const std::string size = "." + std::to_string(n);
    make<<<grid(n), 256>>>(m.a, n, 1);
    for (const float limit : {0.1f, 0.5f, 0.9f}) {
      const std::string part = ".over" + std::to_string(static_cast<int>(limit * 10));
      wall("meet.count" + part + size,
           [&] { count_large<<<grid(n), 256>>>(m.a, n, limit, counter); });
      wall("meet.pick" + part + size, [&] {
        MUST(cudaMemsetAsync(counter, 0, 4));
        pick_large<<<grid(n), 256>>>(m.a, n, limit, counter, m.b);
      });
    }
    wall("meet.sum_floats" + size, [&] { sum_all<<<grid(n), 256>>>(m.a, n, m.c); });
    wall("meet.sum_ints" + size, [&] {
      sum_ints<<<1056, 128>>>(reinterpret_cast<int*>(m.a), n, reinterpret_cast<int*>(m.c));
    });
    wall("meet.greatest" + size, [&] {
      greatest<<<(n + 511) / 512, 512>>>(reinterpret_cast<int*>(m.a), n,
                                         reinterpret_cast<int*>(m.c));
    });
    for (const unsigned kinds : {1u, 4u, 40u, 256u}) {
      auto* bytes = reinterpret_cast<unsigned char*>(m.b) + 4096 * kinds;
      make_bytes<<<grid(n), 256>>>(bytes, n, kinds);
      wall("meet.bytes.of" + std::to_string(kinds) + size,
           [&] { count_bytes<<<528, 256>>>(bytes, n, counter); });
    }
  }
}

void reach(const buffers& m) {
  constexpr int most = 6'000'000;
  float *x, *y;
  MUST(cudaMallocHost(reinterpret_cast<void**>(&x), most * sizeof(float)));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&y), most * sizeof(float)));
  std::memset(x, 0, most * sizeof(float));
  std::memset(y, 0, most * sizeof(float));
  for (const int n : {50'000, 700'000, most}) {
    const std::string size = "." + std::to_string(n);
    wall("reach.saxpy" + size, [&] { saxpy<<<grid(n), 256>>>(x, y, n); });
    wall("reach.saxpy_in" + size, [&] { saxpy<<<grid(n), 256>>>(x, m.b, n); });
    wall("reach.add_out" + size, [&] { add<<<grid(n), 256>>>(m.a, m.b, y, n); });
    wall("reach.add_in" + size, [&] { add<<<grid(n), 256>>>(x, y, m.c, n); });
    // Beside a kernel that computes elsewhere, and beside a copy.
    const streams s(2);
    wall("reach.beside_copy" + size, [&] {
      add<<<grid(n), 256, 0, s[0]>>>(x, m.b, m.c, n);
      MUST(cudaMemcpyAsync(y, m.a, n * sizeof(float), cudaMemcpyDeviceToHost, s[1]));
    });
  }
  std::vector<float> own(2'000'000);
  MUST(cudaHostRegister(own.data(), own.size() * sizeof(float), cudaHostRegisterMapped));
  float* seen;
  MUST(cudaHostGetDevicePointer(reinterpret_cast<void**>(&seen), own.data(), 0));
  wall("reach.registered", [&] { add<<<grid(2'000'000), 256>>>(seen, m.b, m.c, 2'000'000); });
  MUST(cudaHostUnregister(own.data()));
  MUST(cudaFreeHost(x));
  MUST(cudaFreeHost(y));
}

/// The usual way: filled by the host, computed with, read by the host.
void managed(bool ahead, int n) {
  told(std::string("managed.") + (ahead ? "prefetched." : "faulted.") + std::to_string(n), [&] {
    float *x, *y;
    const std::size_t bytes = n * sizeof(float);
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&x), bytes));
    MUST(cudaMallocManaged(reinterpret_cast<void**>(&y), bytes));
    std::memset(x, 0, bytes);
    std::memset(y, 0, bytes);
    const auto begin = clk::now();
    if (ahead) {
      MUST(cudaMemPrefetchAsync(x, bytes, {cudaMemLocationTypeDevice, 0}, 0, nullptr));
      MUST(cudaMemPrefetchAsync(y, bytes, {cudaMemLocationTypeDevice, 0}, 0, nullptr));
    }
    for (int i = 0; i < 4; ++i) saxpy<<<grid(n), 256>>>(x, y, n);
    if (ahead) MUST(cudaMemPrefetchAsync(y, bytes, {cudaMemLocationTypeHost, 0}, 0, nullptr));
    MUST(cudaDeviceSynchronize());
    const double us = microseconds(begin, clk::now());
    MUST(cudaFree(x));
    MUST(cudaFree(y));
    return us;
  });
}

void from_threads() {
  const streams s(6);
  for (const int count : {2, 5, 6})
    told("threads.batches.t" + std::to_string(count), [&] {
      MUST(cudaDeviceSynchronize());
      const auto begin = clk::now();
      std::vector<std::thread> all;
      for (int t = 0; t < count; ++t)
        all.emplace_back([&, t] {
          for (int i = 0; i < 60; ++i) wait_cycles<<<1, 1, 0, s[t]>>>(2 * microsecond);
          MUST(cudaStreamSynchronize(s[t]));
        });
      for (auto& one : all) one.join();
      return microseconds(begin, clk::now());
    });
}

void divisions(const buffers& m) {
  auto *a = reinterpret_cast<double*>(m.a), *b = reinterpret_cast<double*>(m.b),
       *c = reinterpret_cast<double*>(m.c);
  // Ones: nothing that a division has to look at twice.
  std::vector<double> ones(8 << 20, 1.5);
  MUST(cudaMemcpy(a, ones.data(), ones.size() * sizeof(double), cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(b, ones.data(), ones.size() * sizeof(double), cudaMemcpyHostToDevice));
  for (const int n : {1 << 20, 8 << 20})
    wall("double.divide." + std::to_string(n), [&] { divide<<<grid(n), 256>>>(a, b, c, n); });
  for (const int loops : {20, 200})
    wall("double.often." + std::to_string(loops),
         [&] { divide_often<<<1056, 256>>>(c, 3.0, loops); });
  for (const int n : {1 << 20, 8 << 20})
    wall("double.newton." + std::to_string(n), [&] { newton<<<grid(n), 256>>>(c, a, n); });
}

void chains(const buffers& m) {
  const streams s(2);
  const event fork, join;
  for (const int each : {1, 10, 30})
    for (const int cycles : {0, 5}) {
      const auto work = [&](cudaStream_t to) {
        if (cycles == 0)
          nothing<<<1, 1, 0, to>>>();
        else
          wait_cycles<<<1, 1, 0, to>>>(cycles * microsecond);
      };
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
      order(s[0], fork, s[1]);
      for (int i = 0; i < each; ++i) {
        work(s[0]);
        work(s[1]);
      }
      order(s[1], join, s[0]);
      MUST(cudaStreamEndCapture(s[0], &graph));
      MUST(cudaGraphInstantiate(&exec, graph, 0));
      const std::string key =
          "chain.branches.x" + std::to_string(each) + ".us" + std::to_string(cycles);
      wall(key, [&] { MUST(cudaGraphLaunch(exec, s[0])); });
      wall(key + ".ten", [&] {
        for (int i = 0; i < 10; ++i) MUST(cudaGraphLaunch(exec, s[0]));
      });
      MUST(cudaGraphExecDestroy(exec));
      MUST(cudaGraphDestroy(graph));
    }
  for (const std::size_t bytes : {4 * kib, 256 * kib, 4 * mib})
    for (const int times : {1, 6, 20}) {
      const std::string n = "." + std::to_string(bytes / kib) + "K.x" + std::to_string(times);
      wall("chain.inside" + n, [&] {
        for (int i = 0; i < times; ++i)
          MUST(cudaMemcpyAsync(m.b, m.a, bytes, cudaMemcpyDeviceToDevice, s[0]));
      });
      between_events("chain.inside_events" + n, s[0], [&] {
        for (int i = 0; i < times; ++i)
          MUST(cudaMemcpyAsync(m.b, m.a, bytes, cudaMemcpyDeviceToDevice, s[0]));
      });
      wall("chain.fill_copy" + n, [&] {
        for (int i = 0; i < times; ++i) {
          MUST(cudaMemsetAsync(m.a, 0, bytes, s[0]));
          MUST(cudaMemcpyAsync(m.b, m.a, bytes, cudaMemcpyDeviceToDevice, s[0]));
        }
      });
      between_events("chain.fill_events" + n, s[0], [&] {
        for (int i = 0; i < times; ++i) MUST(cudaMemsetAsync(m.a, 0, bytes, s[0]));
      });
      wall("chain.fill_kernel" + n, [&] {
        for (int i = 0; i < times; ++i) {
          MUST(cudaMemsetAsync(m.a, 0, bytes, s[0]));
          nothing<<<1, 1, 0, s[0]>>>();
        }
      });
      wall("chain.copy_kernel" + n, [&] {
        for (int i = 0; i < times; ++i) {
          MUST(cudaMemcpyAsync(m.b, m.a, bytes, cudaMemcpyDeviceToDevice, s[0]));
          nothing<<<1, 1, 0, s[0]>>>();
        }
      });
    }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  buffers m{};
  for (float** p : {&m.a, &m.b, &m.c}) {
    MUST(cudaMalloc(reinterpret_cast<void**>(p), 64 * mib));
    MUST(cudaMemset(*p, 0, 64 * mib));
  }
  meeting(m);
  reach(m);
  for (const int n : {200'000, 2'000'000, 6'000'000})
    for (const bool ahead : {false, true}) managed(ahead, n);
  from_threads();
  divisions(m);
  chains(m);
  return end();
}

// The shapes of timing.cu and overlap.cu with other counts and sizes: programs of students and of
// training loops, written and run on the virtual device before they were recorded.
#include <cstring>

#include "measure.h"

namespace {

char *device_memory, *pinned, *pageable;
constexpr std::size_t bytes = 128 * mib;

__global__ void fast_waves(float* out, int turns) {
  float x = threadIdx.x * 0.01f;
  for (int i = 0; i < turns; ++i) x = __sinf(x) + __expf(x) * 0.25f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void fast_logs(float* out, int turns) {
  float x = 1.5f + threadIdx.x * 0.01f;
  for (int i = 0; i < turns; ++i) x = 2.0f + __logf(x) * __cosf(x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void fast_divisions(float* out, int turns) {
  float x = 1.5f + threadIdx.x * 0.01f;
  for (int i = 0; i < turns; ++i) x = 1.0f + __fdividef(x, x + 2.0f) + __powf(x, 0.3f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
// A block's work grows with its number: every `period`-th does `long_turns`.
__global__ void uneven(float* out, int period, int turns, int long_turns) {
  const int mine = blockIdx.x % period == 0 ? long_turns : turns;
  float x = threadIdx.x * 0.01f;
  for (int i = 0; i < mine; ++i) x = x * 1.0001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void triangle(float* out, int turns) {
  float x = threadIdx.x * 0.01f;
  const int mine = turns * static_cast<int>(blockIdx.x) / static_cast<int>(gridDim.x);
  for (int i = 0; i < mine; ++i) x = x * 1.0001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void flops(float* out, int turns) {
  float x = threadIdx.x * 0.01f, y = x + 1;
  for (int i = 0; i < turns; ++i) x = x * 1.0001f + 0.5f, y = y * 0.999f + 0.25f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
__global__ void stream_through(const float4* in, float4* out, std::size_t n) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    float4 v = in[i];
    v.x += 1;
    out[i] = v;
  }
}

void to_device(std::size_t at, std::size_t n, cudaStream_t s, char* host) {
  MUST(cudaMemcpyAsync(device_memory + at, host + at, n, cudaMemcpyHostToDevice, s));
}
void to_host(std::size_t at, std::size_t n, cudaStream_t s, char* host) {
  MUST(cudaMemcpyAsync(host + at, device_memory + at, n, cudaMemcpyDeviceToHost, s));
}

// Copy in, sleep, copy out for each of n parts, in one stream and in n.
void sleeps() {
  for (int n : {3, 7, 12})
    for (int us : {130, 900})
      for (std::size_t part : {256 * kib, 6 * mib}) {
        const std::string key = "sleep.n" + std::to_string(n) + ".us" + std::to_string(us) +
                                ".kib" + std::to_string(part / kib);
        const streams s(n);
        const auto run = [&](bool many) {
          for (int i = 0; i < n; ++i) {
            cudaStream_t q = s[many ? i : 0];
            to_device(i * part, part, q, pinned);
            wait_cycles<<<1, 64, 0, q>>>(us * microsecond);
            to_host(i * part, part, q, pinned);
          }
        };
        wall(key + ".single", [&] { run(false); });
        wall(key + ".multi", [&] { run(true); });
      }
}

void three_ways() {
  for (int chunks : {5, 16, 40})
    for (int count : {2, 4}) {
      const streams s(count);
      const std::size_t n = 80 * mib / chunks / 4096 * 4096;
      wall("three.chunks" + std::to_string(chunks) + ".streams" + std::to_string(count), [&] {
        for (int i = 0; i < chunks; ++i) {
          to_device(i * n, n, s[i], pinned);
          wait_cycles<<<132, 256, 0, s[i]>>>(static_cast<long long>(n / 48));
          to_host(i * n, n, s[i], pinned);
        }
      });
    }
}

// Some parts lie in pageable memory.
void mixed() {
  for (int every : {1, 2, 4}) {
    const streams s(4);
    wall("mixed.pageable_every" + std::to_string(every), [&] {
      for (int i = 0; i < 8; ++i) {
        char* host = i % every == 0 ? pageable : pinned;
        to_device(i * 5 * mib, 5 * mib, s[i], host);
        wait_cycles<<<60, 256, 0, s[i]>>>(180 * microsecond);
        to_host(i * 5 * mib, 5 * mib, s[i], host);
      }
    });
  }
}

void hooks() {
  struct shape {
    int layers, layer_us, send_us, hook_us;
  };
  for (const shape& c : {shape{4, 700, 500, 90}, shape{9, 220, 260, 40}, shape{20, 150, 60, 25},
                         shape{48, 60, 45, 10}}) {
    const streams s(3);
    event done, sent;
    const std::string key = "hook.layers" + std::to_string(c.layers);
    const auto layer = [&](cudaStream_t q) {
      wait_cycles<<<48, 256, 0, q>>>(c.layer_us * microsecond);
    };
    const auto send = [&](cudaStream_t q) {
      wait_cycles<<<12, 512, 0, q>>>(c.send_us * microsecond);
    };
    const auto hook = [&](cudaStream_t q) {
      wait_cycles<<<24, 64, 0, q>>>(c.hook_us * microsecond);
    };
    wall(key + ".same_stream", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[1]);
        send(s[1]);
        order(s[1], sent, s[0]);
        hook(s[0]);
      }
    });
    wall(key + ".own_stream", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[1]);
        send(s[1]);
        order(s[1], sent, s[2]);
        hook(s[2]);
      }
    });
    wall(key + ".hook_with_send", [&] {
      for (int i = 0; i < c.layers; ++i) {
        layer(s[0]);
        order(s[0], done, s[2]);
        send(s[2]);
        hook(s[2]);
      }
      order(s[2], sent, s[0]);
      hook(s[0]);
    });
  }
}

// Streams without order between them, more than there are connections or fewer.
void side_by_side() {
  for (int n : {2, 3, 4, 5, 9}) {
    const streams s(n);
    wall("beside.n" + std::to_string(n) + ".by_stream", [&] {
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < 4; ++k) wait_cycles<<<8, 128, 0, s[i]>>>((90 + 20 * i) * microsecond);
    });
    wall("beside.n" + std::to_string(n) + ".in_turns", [&] {
      for (int k = 0; k < 4; ++k)
        for (int i = 0; i < n; ++i) wait_cycles<<<8, 128, 0, s[i]>>>((90 + 20 * i) * microsecond);
    });
  }
}

void priorities() {
  cudaStream_t low, same, high;
  MUST(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -5));
  for (cudaStream_t q : {same, high})
    for (int waves : {3, 11}) {
      const event done;
      told("priority.waves" + std::to_string(waves) + (q == high ? ".high" : ".same"), [&] {
        MUST(cudaDeviceSynchronize());
        const auto begin = clk::now();
        wait_cycles<<<132 * 2 * waves, 1024, 0, low>>>(90 * microsecond);
        wait_cycles<<<20, 128, 0, q>>>(50 * microsecond);
        MUST(cudaEventRecord(done, q));
        MUST(cudaEventSynchronize(done));
        const double us = microseconds(begin, clk::now());
        return us;
      });
    }
  MUST(cudaDeviceSynchronize());
  for (cudaStream_t q : {low, same, high}) MUST(cudaStreamDestroy(q));
}

void chains() {
  const streams s(1);
  for (int n : {8, 30, 120})
    for (int us : {0, 4, 18}) {
      const std::string key = "chain" + std::to_string(n) + ".us" + std::to_string(us);
      const auto work = [&] {
        for (int i = 0; i < n; ++i) wait_cycles<<<16, 128, 0, s[0]>>>(us * microsecond);
      };
      wall(key + ".stream", work);
      cudaGraph_t graph;
      cudaGraphExec_t x;
      MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
      work();
      MUST(cudaStreamEndCapture(s[0], &graph));
      MUST(cudaGraphInstantiate(&x, graph, 0));
      MUST(cudaGraphDestroy(graph));
      wall(key + ".graph", [&] { MUST(cudaGraphLaunch(x, s[0])); });
      MUST(cudaGraphExecDestroy(x));
    }
}

void functions() {
  auto* out = reinterpret_cast<float*>(device_memory);
  for (int blocks : {132, 528}) {
    const std::string key = ".g" + std::to_string(blocks);
    wall("fast.sine_and_exp" + key, [&] { fast_waves<<<blocks, 512>>>(out, 300); });
    wall("fast.log_and_cosine" + key, [&] { fast_logs<<<blocks, 512>>>(out, 300); });
    wall("fast.divide_and_power" + key, [&] { fast_divisions<<<blocks, 512>>>(out, 250); });
  }
}

void uneven_blocks() {
  auto* out = reinterpret_cast<float*>(device_memory);
  wall("uneven.one_in_8", [&] { uneven<<<2112, 256>>>(out, 8, 100, 2000); });
  wall("uneven.one_in_50", [&] { uneven<<<4000, 128>>>(out, 50, 60, 4000); });
  wall("uneven.one_in_3", [&] { uneven<<<600, 512>>>(out, 3, 400, 1200); });
  wall("uneven.triangle.small", [&] { triangle<<<264, 512>>>(out, 4000); });
  wall("uneven.triangle.large", [&] { triangle<<<3000, 256>>>(out, 1500); });
}

// Kernels of two streams that compute and move data, one of which leaves before the other.
void leaving() {
  const streams s(2);
  auto* out = reinterpret_cast<float*>(device_memory);
  const auto* in = reinterpret_cast<const float4*>(device_memory + 64 * mib);
  wall("leaving.flops_then_flops", [&] {
    flops<<<700, 512, 0, s[0]>>>(out, 1000);
    flops<<<500, 512, 0, s[1]>>>(out + mib, 1000);
  });
  wall("leaving.flops_then_memory", [&] {
    flops<<<700, 512, 0, s[0]>>>(out, 1000);
    stream_through<<<1320, 256, 0, s[1]>>>(in, reinterpret_cast<float4*>(out), 60 * mib / 16);
  });
  wall("leaving.memory_then_flops", [&] {
    stream_through<<<1320, 256, 0, s[0]>>>(in, reinterpret_cast<float4*>(out), 60 * mib / 16);
    flops<<<700, 512, 0, s[1]>>>(out + 61 * mib / 4, 1000);
  });
  wall("leaving.three_in_turn", [&] {
    for (int i = 0; i < 6; ++i) flops<<<200, 512, 0, s[i]>>>(out + i * mib, 900);
  });
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(cudaMalloc(reinterpret_cast<void**>(&device_memory), bytes));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes));
  std::memset(pinned, 1, bytes);
  pageable = static_cast<char*>(std::malloc(bytes));
  std::memset(pageable, 1, bytes);
  hooks();
  side_by_side();
  if (std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") != nullptr) return end();  // what they are for
  sleeps();
  three_ways();
  mixed();
  priorities();
  chains();
  functions();
  uneven_blocks();
  leaving();
  return end();
}

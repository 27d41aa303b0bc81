// Kernels without copies: waves, what shares the device, priorities, chains, graphs, host
// functions, several host threads, polling; and what calls cost.
#include <thread>

#include "measure.h"

namespace {

__global__ void wait_with_shared(long long cycles) {
  extern __shared__ int room[];
  if (threadIdx.x == 0) room[0] = 1;
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void raise(volatile int* flag, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  *flag = 1;
  __threadfence_system();
}
__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}

// Grids that fill the device, just do not, or just do.
void waves() {
  struct shape {
    int blocks, threads, us;
  };
  for (const shape& c :
       {shape{264, 1024, 70}, shape{265, 1024, 70}, shape{1000, 512, 35}, shape{4224, 64, 120},
        shape{4300, 32, 120}, shape{200, 640, 1200}, shape{700, 384, 55}, shape{2000, 1024, 12}})
    wall("waves.g" + std::to_string(c.blocks) + ".b" + std::to_string(c.threads),
         [&] { wait_cycles<<<c.blocks, c.threads>>>(c.us * microsecond); });
  for (int shared_kib : {40, 72, 110, 200}) {
    const int size = shared_kib * static_cast<int>(kib);
    MUST(cudaFuncSetAttribute(wait_with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, size));
    for (int blocks : {132, 300})
      wall("waves.shared" + std::to_string(shared_kib) + "K.g" + std::to_string(blocks),
           [&] { wait_with_shared<<<blocks, 128, size>>>(110 * microsecond); });
  }
}

// Kernels of several streams that fit together, partly, or not at all.
void sharing() {
  const streams s(4);
  wall("sharing.two_halves", [&] {
    for (int i = 0; i < 2; ++i) wait_cycles<<<132, 1024, 0, s[i]>>>(400 * microsecond);
  });
  wall("sharing.two_of_three_quarters", [&] {
    for (int i = 0; i < 2; ++i) wait_cycles<<<200, 1024, 0, s[i]>>>(400 * microsecond);
  });
  wall("sharing.four_of_a_third", [&] {
    for (int i = 0; i < 4; ++i) wait_cycles<<<88, 1024, 0, s[i]>>>((200 + 50 * i) * microsecond);
  });
  wall("sharing.long_behind_short", [&] {
    wait_cycles<<<1056, 512, 0, s[0]>>>(100 * microsecond);
    wait_cycles<<<66, 1024, 0, s[1]>>>(500 * microsecond);
    wait_cycles<<<132, 256, 0, s[2]>>>(50 * microsecond);
  });
  const int size = 120 * static_cast<int>(kib);
  MUST(cudaFuncSetAttribute(wait_with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, size));
  wall("sharing.shared_memory_and_threads", [&] {
    wait_with_shared<<<132, 256, size, s[0]>>>(300 * microsecond);
    wait_with_shared<<<132, 256, size, s[1]>>>(300 * microsecond);
    wait_cycles<<<132, 1024, 0, s[2]>>>(300 * microsecond);
  });
}

void priorities() {
  cudaStream_t low, other, high;
  MUST(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, 0));
  MUST(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -3));
  for (cudaStream_t q : {other, high}) {
    const std::string which = q == high ? ".high" : ".same";
    const event done;
    const auto until_done = [&](auto work) {
      return [&, work] {
        MUST(cudaDeviceSynchronize());
        const auto begin = clk::now();
        work();
        MUST(cudaEventRecord(done, q));
        MUST(cudaEventSynchronize(done));
        return microseconds(begin, clk::now());
      };
    };
    told("priority.wide_after_waves" + which, until_done([&] {
           wait_cycles<<<132 * 20, 512, 0, low>>>(150 * microsecond);
           wait_cycles<<<132, 512, 0, q>>>(80 * microsecond);
         }));
    told("priority.three_after_two" + which, until_done([&] {
           for (int i = 0; i < 2; ++i) wait_cycles<<<132 * 6, 1024, 0, low>>>(120 * microsecond);
           for (int i = 0; i < 3; ++i) wait_cycles<<<40, 256, 0, q>>>(60 * microsecond);
         }));
  }
  MUST(cudaDeviceSynchronize());
  for (cudaStream_t q : {low, other, high}) MUST(cudaStreamDestroy(q));
}

template <class F>
cudaGraphExec_t captured(cudaStream_t s, F work) {
  cudaGraph_t graph;
  cudaGraphExec_t x;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  work();
  MUST(cudaStreamEndCapture(s, &graph));
  MUST(cudaGraphInstantiate(&x, graph, 0));
  MUST(cudaGraphDestroy(graph));
  return x;
}

void chains_and_graphs() {
  const streams s(6);
  const auto both = [&](const std::string& key, auto work) {
    wall(key + ".stream", work);
    const cudaGraphExec_t x = captured(s[0], work);
    wall(key + ".graph", [&] { MUST(cudaGraphLaunch(x, s[0])); });
    MUST(cudaGraphExecDestroy(x));
  };
  for (int n : {5, 50, 200}) {
    both("chain" + std::to_string(n) + ".nothing", [&] {
      for (int i = 0; i < n; ++i) nothing<<<1, 32, 0, s[0]>>>();
    });
    both("chain" + std::to_string(n) + ".us9", [&] {
      for (int i = 0; i < n; ++i) wait_cycles<<<50, 128, 0, s[0]>>>(9 * microsecond);
    });
  }
  event fork, join[6];
  for (int us : {3, 25})
    both("branches.5x6.us" + std::to_string(us), [&] {
      wait_cycles<<<4, 64, 0, s[0]>>>(us * microsecond);
      MUST(cudaEventRecord(fork, s[0]));
      for (int i = 1; i < 6; ++i) {
        MUST(cudaStreamWaitEvent(s[i], fork, 0));
        for (int k = 0; k < 6; ++k) wait_cycles<<<10, 128, 0, s[i]>>>(us * microsecond);
        MUST(cudaEventRecord(join[i], s[i]));
      }
      for (int i = 1; i < 6; ++i) MUST(cudaStreamWaitEvent(s[0], join[i], 0));
      wait_cycles<<<4, 64, 0, s[0]>>>(us * microsecond);
    });
}

void CUDART_CB touch(void* p) { ++*static_cast<int*>(p); }

void host_functions() {
  const streams s(2);
  int count = 0;
  wall("hostfn.between_kernels", [&] {
    for (int i = 0; i < 10; ++i) {
      wait_cycles<<<20, 128, 0, s[0]>>>(35 * microsecond);
      MUST(cudaLaunchHostFunc(s[0], touch, &count));
    }
  });
  wall("hostfn.two_streams", [&] {
    for (int i = 0; i < 16; ++i) {
      wait_cycles<<<20, 128, 0, s[i]>>>(120 * microsecond);
      MUST(cudaLaunchHostFunc(s[i], touch, &count));
    }
  });
}

void host_threads() {
  for (int threads : {2, 4}) {
    const streams s(threads);
    wall("threads" + std::to_string(threads) + ".sync_each", [&] {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t)
        all.emplace_back([&s, t] {
          for (int i = 0; i < 12; ++i) {
            wait_cycles<<<16, 128, 0, s[t]>>>(250 * microsecond);
            MUST(cudaStreamSynchronize(s[t]));
          }
        });
      for (auto& t : all) t.join();
    });
    wall("threads" + std::to_string(threads) + ".own_default_stream", [&] {
      std::vector<std::thread> all;
      for (int t = 0; t < threads; ++t)
        all.emplace_back([t] {
          for (int i = 0; i < 10; ++i)
            wait_cycles<<<16, 128, 0, cudaStreamPerThread>>>((300 + 20 * t) * microsecond);
          MUST(cudaStreamSynchronize(cudaStreamPerThread));
        });
      for (auto& t : all) t.join();
    });
  }
}

void polling() {
  const streams s(2);
  const event e;
  for (int us : {45, 700}) {
    wall("poll.event.us" + std::to_string(us), [&] {
      wait_cycles<<<8, 64, 0, s[0]>>>(us * microsecond);
      MUST(cudaEventRecord(e, s[0]));
      while (cudaEventQuery(e) == cudaErrorNotReady) {
      }
    });
    wall("poll.stream.us" + std::to_string(us), [&] {
      for (int i = 0; i < 3; ++i) wait_cycles<<<8, 64, 0, s[0]>>>(us * microsecond);
      while (cudaStreamQuery(s[0]) == cudaErrorNotReady) {
      }
    });
  }
}

void calls() {
  const streams s(2);
  cudaEvent_t a, b;
  MUST(cudaEventCreate(&a));
  MUST(cudaEventCreate(&b));
  const auto timed = [](auto f) {
    return [f] {
      const auto begin = clk::now();
      f();
      return microseconds(begin, clk::now());
    };
  };
  told("calls.launch_and_sync", timed([&] {
         nothing<<<8, 128, 0, s[0]>>>();
         MUST(cudaStreamSynchronize(s[0]));
       }));
  told("calls.launch_and_device_sync", timed([&] {
         nothing<<<8, 128>>>();
         MUST(cudaDeviceSynchronize());
       }));
  told("calls.record_and_sync", timed([&] {
         MUST(cudaEventRecord(a, s[0]));
         MUST(cudaEventSynchronize(a));
       }));
  between_events("calls.two_records", s[0], [] {});
  between_events("calls.kernel_between_records", s[0], [&] { nothing<<<8, 128, 0, s[0]>>>(); });
  told("calls.sync_idle", timed([&] { MUST(cudaStreamSynchronize(s[0])); }));
  told("calls.create_and_destroy_event", timed([&] {
         cudaEvent_t e;
         MUST(cudaEventCreate(&e));
         MUST(cudaEventDestroy(e));
       }));
  told("calls.create_stream", [&] {
    cudaStream_t q;
    const auto begin = clk::now();
    MUST(cudaStreamCreate(&q));
    const double r = microseconds(begin, clk::now());
    MUST(cudaStreamDestroy(q));
    return r;
  });
  told("calls.destroy_stream", [&] {
    cudaStream_t q;
    MUST(cudaStreamCreate(&q));
    const auto begin = clk::now();
    MUST(cudaStreamDestroy(q));
    return microseconds(begin, clk::now());
  });
  wall("calls.malloc_async_loop", [&] {
    for (int i = 0; i < 20; ++i) {
      void* p;
      MUST(cudaMallocAsync(&p, (i + 1) * 256 * kib, s[0]));
      wait_cycles<<<20, 128, 0, s[0]>>>(15 * microsecond);
      MUST(cudaFreeAsync(p, s[0]));
    }
  });
  for (std::size_t size : {64 * kib, 8 * mib, 512 * mib}) {
    const std::string which = std::to_string(size / kib) + "K";
    told("calls.malloc." + which, [&] {
      void* p;
      const auto begin = clk::now();
      MUST(cudaMalloc(&p, size));
      const double r = microseconds(begin, clk::now());
      MUST(cudaFree(p));
      return r;
    });
    told("calls.free." + which, [&] {
      void* p;
      MUST(cudaMalloc(&p, size));
      const auto begin = clk::now();
      MUST(cudaFree(p));
      return microseconds(begin, clk::now());
    });
  }
  for (std::size_t size : {64 * kib, 8 * mib, 64 * mib}) {
    const std::string which = std::to_string(size / kib) + "K";
    told("calls.malloc_host." + which, [&] {
      void* p;
      const auto begin = clk::now();
      MUST(cudaMallocHost(&p, size));
      const double r = microseconds(begin, clk::now());
      MUST(cudaFreeHost(p));
      return r;
    });
    told("calls.free_host." + which, [&] {
      void* p;
      MUST(cudaMallocHost(&p, size));
      const auto begin = clk::now();
      MUST(cudaFreeHost(p));
      return microseconds(begin, clk::now());
    });
  }
  told("calls.instantiate100", [&] {
    cudaGraph_t graph;
    cudaGraphExec_t x;
    MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 100; ++i) nothing<<<1, 32, 0, s[0]>>>();
    MUST(cudaStreamEndCapture(s[0], &graph));
    const auto begin = clk::now();
    MUST(cudaGraphInstantiate(&x, graph, 0));
    const double r = microseconds(begin, clk::now());
    MUST(cudaGraphExecDestroy(x));
    MUST(cudaGraphDestroy(graph));
    return r;
  });
}

// Memory that a kernel writes and the host reads, and the other way round.
void flags() {
  const streams s(2);
  volatile int* flag;
  MUST(cudaHostAlloc((void**)&flag, 2 * sizeof(int), cudaHostAllocMapped));
  told("poll.flag_of_kernel", [&] {
    *flag = 0;
    MUST(cudaDeviceSynchronize());
    const auto begin = clk::now();
    raise<<<1, 1, 0, s[0]>>>(flag, 200 * microsecond);
    while (*flag == 0) clk::now();
    return microseconds(begin, clk::now());
  });
  wall("poll.flag_of_host", [&] {
    flag[1] = 0;
    wait_for<<<1, 1, 0, s[0]>>>(flag + 1);
    wait_cycles<<<30, 128, 0, s[0]>>>(150 * microsecond);
    wait_cycles<<<30, 128, 0, s[1]>>>(250 * microsecond);
    MUST(cudaStreamSynchronize(s[1]));
    flag[1] = 1;
  });
  MUST(cudaFreeHost((void*)flag));
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  waves();
  sharing();
  priorities();
  chains_and_graphs();
  host_functions();
  host_threads();
  polling();
  calls();
  flags();
  return end();
}

// Many host threads that make, use and destroy everything there is, for as long as the environment
// says (STREAMBED_ENDURANCE_SECONDS). Under ThreadSanitizer it is the test for races of the whole
// library; in every build what comes back is checked.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

constexpr int thread_count = 32;
constexpr std::size_t bytes = 16 << 10;

std::chrono::steady_clock::duration length() {
  const char* text = std::getenv("STREAMBED_ENDURANCE_SECONDS");
  return std::chrono::seconds(text != nullptr ? std::atoi(text) : 3);
}

// What all threads use; made before and destroyed after them.
struct common {
  std::vector<cudaStream_t> streams{4};
  std::vector<cudaEvent_t> events{8};
  common() {
    for (auto& s : streams) EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&s));
    for (auto& e : events) EXPECT_CUDA(cudaSuccess, cudaEventCreate(&e));
  }
  ~common() {
    for (auto& e : events) EXPECT_CUDA(cudaSuccess, cudaEventDestroy(e));
    for (auto& s : streams) EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  }
};

class host_thread {
 public:
  host_thread(common& shared, int seed) : shared_(shared), random_(seed) {}

  void run(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure()) {
      switch (random_() % 7) {
        case 0:
          memory_of_the_device();
          break;
        case 1:
          memory_of_a_stream();
          break;
        case 2:
          captured_graph();
          break;
        case 3:
          built_graph();
          break;
        case 4:
          events();
          break;
        case 5:
          default_streams();
          break;
        case 6:
          pool();
          break;
      }
      ++rounds;
    }
  }

  long rounds = 0;

 private:
  cudaStream_t new_stream() {
    return new_stream(random_() % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
  }
  cudaStream_t new_stream(unsigned flags) {
    cudaStream_t s = nullptr;
    EXPECT_CUDA(cudaSuccess,
                cudaStreamCreateWithPriority(&s, flags, -static_cast<int>(random_() % 6)));
    return s;
  }
  cudaEvent_t any_event() { return shared_.events[random_() % shared_.events.size()]; }
  cudaStream_t any_stream() { return shared_.streams[random_() % shared_.streams.size()]; }

  // Up, across, down: what arrives is what was sent.
  void round_trip(char* a, char* b, cudaStream_t s) {
    const int value = static_cast<int>(random_() % 256);
    std::vector<char> up(bytes, static_cast<char>(value));
    std::vector<char> down(bytes, static_cast<char>(~value));
    EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(b, 0, bytes, s));
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(a, up.data(), bytes, cudaMemcpyHostToDevice, s));
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, s));
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(down.data(), b, bytes, cudaMemcpyDeviceToHost, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
    EXPECT_EQ(up, down);
  }

  void memory_of_the_device() {
    void* a = nullptr;
    void* b = nullptr;
    void* pinned = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaMalloc(&a, bytes));
    EXPECT_CUDA(cudaSuccess, cudaMalloc(&b, bytes));
    EXPECT_CUDA(cudaSuccess, cudaMallocHost(&pinned, bytes));
    const cudaStream_t s = new_stream();
    round_trip(static_cast<char*>(a), static_cast<char*>(b), s);
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, s));
    cudaPointerAttributes attributes{};
    EXPECT_CUDA(cudaSuccess, cudaPointerGetAttributes(&attributes, pinned));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));  // with work that is pending
    EXPECT_CUDA(cudaSuccess, cudaFreeHost(pinned));
    EXPECT_CUDA(cudaSuccess, cudaFree(a));
    EXPECT_CUDA(cudaSuccess, cudaFree(b));
  }

  void memory_of_a_stream() {
    void* a = nullptr;
    void* b = nullptr;
    const cudaStream_t s = new_stream();
    EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&a, bytes, s));
    EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&b, bytes, s));
    round_trip(static_cast<char*>(a), static_cast<char*>(b), s);
    EXPECT_CUDA(cudaSuccess, cudaFreeAsync(a, s));
    // Freed in another stream, which is ordered after this one.
    const cudaStream_t t = new_stream();
    cudaEvent_t e = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    EXPECT_CUDA(cudaSuccess, cudaEventRecord(e, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(t, e, 0));
    EXPECT_CUDA(cudaSuccess, cudaEventDestroy(e));
    EXPECT_CUDA(cudaSuccess, cudaFreeAsync(b, t));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(t));
  }

  void captured_graph() {
    int ran = 0;
    void* memory = nullptr;
    // CUDA: while a blocking stream is captured, no thread may use the legacy stream.
    const cudaStream_t s = new_stream(cudaStreamNonBlocking);
    const cudaStream_t t = new_stream(cudaStreamNonBlocking);
    cudaEvent_t fork = nullptr;
    cudaEvent_t join = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaMallocAsync(&memory, bytes, s));
    EXPECT_CUDA(cudaSuccess, cudaEventCreate(&fork));
    EXPECT_CUDA(cudaSuccess, cudaEventCreate(&join));
    EXPECT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(s, count_up, &ran));
    EXPECT_CUDA(cudaSuccess, cudaEventRecord(fork, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(t, fork, 0));
    EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(memory, 1, bytes, t));
    EXPECT_CUDA(cudaSuccess, cudaEventRecord(join, t));
    EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, join, 0));
    EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(s, count_up, &ran));
    EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &graph));
    EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, s));
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
    EXPECT_EQ(ran, 4);
    EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaSuccess, cudaFreeAsync(memory, s));
    for (const cudaEvent_t e : {fork, join}) EXPECT_CUDA(cudaSuccess, cudaEventDestroy(e));
    for (const cudaStream_t q : {s, t}) EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(q));
  }

  void built_graph() {
    int ran = 0;
    cudaGraph_t graph = nullptr;
    cudaGraph_t copy = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t first = nullptr;
    cudaGraphNode_t second = nullptr;
    cudaHostNodeParams host{count_up, &ran};
    EXPECT_CUDA(cudaSuccess, cudaGraphCreate(&graph, 0));
    EXPECT_CUDA(cudaSuccess, cudaGraphAddHostNode(&first, graph, nullptr, 0, &host));
    EXPECT_CUDA(cudaSuccess, cudaGraphAddHostNode(&second, graph, &first, 1, &host));
    EXPECT_CUDA(cudaSuccess, cudaGraphClone(&copy, graph));
    EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, copy, 0));
    EXPECT_CUDA(cudaSuccess, cudaGraphUpload(exec, any_stream()));
    const cudaStream_t s = new_stream();
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, s));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
    EXPECT_EQ(ran, 2);
    EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(copy));
    EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  }

  // Events that every thread records, waits for and asks about.
  void events() {
    const cudaStream_t s = new_stream();
    for (int i = 0; i < 8; ++i) {
      EXPECT_CUDA(cudaSuccess, cudaEventRecord(any_event(), s));
      EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, any_event(), 0));
      EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(any_stream(), any_event(), 0));
      const cudaError_t ready = cudaEventQuery(any_event());
      EXPECT_TRUE(ready == cudaSuccess || ready == cudaErrorNotReady);
      const cudaError_t idle = cudaStreamQuery(any_stream());
      EXPECT_TRUE(idle == cudaSuccess || idle == cudaErrorNotReady);
    }
    EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(any_event()));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  }

  void default_streams() {
    int ran = 0;
    EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(cudaStreamPerThread, count_up, &ran));
    EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(cudaStreamLegacy, count_up, &ran));
    EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(cudaStreamPerThread, count_up, &ran));
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT_EQ(ran, 3);
    if (random_() % 4 == 0) {
      EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(any_stream()));
    }
    std::thread([&] {
      EXPECT_CUDA(cudaSuccess, cudaLaunchHostFunc(cudaStreamPerThread, count_up, &ran));
      EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
    }).join();
    EXPECT_EQ(ran, 4);
  }

  void pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t mine = nullptr;
    void* memory = nullptr;
    const cudaStream_t s = new_stream();
    EXPECT_CUDA(cudaSuccess, cudaMemPoolCreate(&mine, &properties));
    EXPECT_CUDA(cudaSuccess, cudaMallocFromPoolAsync(&memory, bytes, mine, s));
    EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(memory, 0, bytes, s));
    EXPECT_CUDA(cudaSuccess, cudaFreeAsync(memory, s));
    EXPECT_CUDA(cudaSuccess, cudaMemPoolTrimTo(mine, 0));
    EXPECT_CUDA(cudaSuccess, cudaMemPoolDestroy(mine));
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  }

  common& shared_;
  std::mt19937 random_;
};

TEST(endurance, many_threads_make_use_and_destroy_everything) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  {
    common shared;
    std::vector<host_thread> threads;
    threads.reserve(thread_count);
    for (int i = 0; i < thread_count; ++i)
      threads.emplace_back(shared, static_cast<int>(seed + static_cast<unsigned>(i)));
    const auto end = std::chrono::steady_clock::now() + length();
    std::vector<std::thread> running;
    for (host_thread& t : threads) running.emplace_back([&] { t.run(end); });
    for (std::thread& t : running) t.join();
    long rounds = 0;
    for (const host_thread& t : threads) {
      EXPECT_GT(t.rounds, 0);
      rounds += t.rounds;
    }
    RecordProperty("rounds", std::to_string(rounds));
  }
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
}

}  // namespace

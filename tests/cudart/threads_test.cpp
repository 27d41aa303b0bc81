#include <atomic>
#include <thread>
#include <vector>

#include "gate.hpp"

namespace {

TEST(threads, each_has_a_default_stream_of_its_own) {
  unsigned long long mine = 0;
  unsigned long long theirs = 0;
  ASSERT_OK(cudaStreamGetId(cudaStreamPerThread, &mine));
  std::thread([&] { cudaStreamGetId(cudaStreamPerThread, &theirs); }).join();
  EXPECT_NE(0U, theirs);
  EXPECT_NE(mine, theirs);
}

TEST(threads, one_that_ends_leaves_its_work_behind) {
  std::atomic<int> ran{0};
  gate g;
  cudaEvent_t done = nullptr;
  ASSERT_OK(cudaEventCreate(&done));
  std::thread([&] {
    g.close(cudaStreamPerThread);
    cudaLaunchHostFunc(
        cudaStreamPerThread, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &ran);
    cudaEventRecord(done, cudaStreamPerThread);
  }).join();
  EXPECT_EQ(0, ran);
  g.open();
  ASSERT_OK(cudaEventSynchronize(done));
  EXPECT_EQ(1, ran);
  ASSERT_OK(cudaEventDestroy(done));
}

TEST(threads, many_make_use_and_destroy_streams_events_and_graphs_at_once) {
  constexpr int rounds = 20;
  std::atomic<int> ran{0};
  std::atomic<int> failures{0};
  const auto work = [&] {
    const auto ok = [&](cudaError_t e) { failures += e != cudaSuccess; };
    for (int i = 0; i < rounds; ++i) {
      cudaStream_t s = nullptr;
      cudaStream_t t = nullptr;
      cudaEvent_t e = nullptr;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      const auto count = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
      ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      ok(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
      ok(cudaEventCreate(&e));
      ok(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
      ok(cudaLaunchHostFunc(s, count, &ran));
      ok(cudaStreamEndCapture(s, &graph));
      ok(cudaGraphInstantiate(&exec, graph, 0));
      ok(cudaGraphLaunch(exec, s));
      ok(cudaEventRecord(e, s));
      ok(cudaStreamWaitEvent(t, e, 0));
      ok(cudaLaunchHostFunc(t, count, &ran));
      ok(cudaStreamSynchronize(t));
      ok(cudaGraphExecDestroy(exec));
      ok(cudaGraphDestroy(graph));
      ok(cudaEventDestroy(e));
      ok(cudaStreamDestroy(s));
      ok(cudaStreamDestroy(t));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
  EXPECT_EQ(0, failures);
  EXPECT_EQ(8 * rounds * 2, ran);
}

}  // namespace

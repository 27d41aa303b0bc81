// Node kinds that move memory or meet events.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "gate.hpp"

namespace {

class graph_nodes : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    ASSERT_OK(cudaMalloc(&device, 256));
    ASSERT_OK(cudaMallocHost(&host, 256));
    std::memset(host, 0, 256);
  }
  void TearDown() override {
    if (exec != nullptr) {
      EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
    }
    EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaSuccess, cudaFree(device));
    EXPECT_CUDA(cudaSuccess, cudaFreeHost(host));
    with_streams::TearDown();
  }
  void run() {
    ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
    ASSERT_OK(cudaGraphLaunch(exec, a));
    ASSERT_OK(cudaStreamSynchronize(a));
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* device = nullptr;
  void* host = nullptr;
};

TEST_F(graph_nodes, a_fill_and_a_copy_after_it) {
  cudaMemsetParams fill{};
  fill.dst = device;
  fill.value = 0x2a;
  fill.elementSize = 1;
  fill.width = 256;
  fill.height = 1;
  cudaGraphNode_t filled = nullptr;
  cudaGraphNode_t copied = nullptr;
  ASSERT_OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  ASSERT_OK(
      cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, host, device, 256, cudaMemcpyDefault));
  run();
  EXPECT_EQ(std::string(256, '*'), std::string(static_cast<char*>(host), 256));
  cudaMemsetParams read{};
  ASSERT_OK(cudaGraphMemsetNodeGetParams(filled, &read));
  EXPECT_EQ(device, read.dst);
  cudaMemcpy3DParms copy{};
  ASSERT_OK(cudaGraphMemcpyNodeGetParams(copied, &copy));
  EXPECT_EQ(256U, copy.extent.width);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(copied, &read));
}

TEST_F(graph_nodes, a_disabled_node_does_nothing) {
  cudaMemsetParams fill{device, 0, 7, 1, 256, 1};
  cudaGraphNode_t filled = nullptr;
  ASSERT_OK(cudaMemset(device, 1, 256));
  ASSERT_OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphNodeSetEnabled(exec, filled, 0));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  ASSERT_OK(cudaMemcpy(host, device, 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(1, *static_cast<char*>(host));
  unsigned enabled = 7;
  ASSERT_OK(cudaGraphNodeGetEnabled(exec, filled, &enabled));
  EXPECT_EQ(0U, enabled);
}

TEST_F(graph_nodes, an_event_record_node_records_at_every_launch) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaSuccess, cudaEventQuery(event));
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaEventSynchronize(event));
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(graph_nodes, an_event_wait_node_waits_for_the_record_before_the_launch) {
  cudaEvent_t event = nullptr;
  ASSERT_OK(cudaEventCreate(&event));
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  gate g;
  ASSERT_OK(g.close(b));
  ASSERT_OK(cudaEventRecord(event, b));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  g.open();
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(a));
  ASSERT_OK(cudaEventDestroy(event));
}

TEST_F(graph_nodes, an_allocation_node_hands_out_its_address) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  params.bytesize = 256;
  cudaGraphNode_t allocated = nullptr;
  cudaGraphNode_t filled = nullptr;
  cudaGraphNode_t copied = nullptr;
  cudaGraphNode_t freed = nullptr;
  ASSERT_OK(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &params));
  ASSERT_NE(nullptr, params.dptr);
  const cudaMemsetParams fill{params.dptr, 0, 5, 1, 256, 1};
  ASSERT_OK(cudaGraphAddMemsetNode(&filled, graph, &allocated, 1, &fill));
  ASSERT_OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, host, params.dptr, 256,
                                     cudaMemcpyDeviceToHost));
  ASSERT_OK(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, params.dptr));
  run();
  EXPECT_EQ(5, static_cast<char*>(host)[255]);
}

TEST_F(graph_nodes, the_drawing_names_every_node) {
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t second = nullptr;
  const cudaMemsetParams fill{device, 0, 5, 1, 256, 1};
  ASSERT_OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  ASSERT_OK(cudaGraphAddMemsetNode(&second, graph, &first, 1, &fill));
  const std::string path = ::testing::TempDir() + "graph_nodes_test.dot";
  ASSERT_OK(cudaGraphDebugDotPrint(graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::string text(4096, '\0');
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(nullptr, file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT_NE(std::string::npos, text.find("EMPTY"));
  EXPECT_NE(std::string::npos, text.find("MEMSET"));
  EXPECT_NE(std::string::npos, text.find("->"));
}

}  // namespace

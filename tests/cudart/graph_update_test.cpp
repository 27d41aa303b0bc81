// What may change in an executable, and what stays as it is in a graph.
#include <cstdio>
#include <string>

#include "gate.hpp"

namespace {

class graph_update : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    ASSERT_OK(cudaMalloc(&device, 4096));
    ASSERT_OK(cudaMallocHost(&host, 4096));
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
  cudaGraphNode_t empty(cudaGraph_t to, cudaGraphNode_t before = nullptr) {
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaGraphAddEmptyNode(&node, to, before != nullptr ? &before : nullptr,
                                                   before != nullptr ? 1 : 0));
    return node;
  }
  cudaGraphNode_t fill(cudaGraph_t to, const cudaMemsetParams& params) {
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaSuccess, cudaGraphAddMemsetNode(&node, to, nullptr, 0, &params));
    return node;
  }
  cudaGraphExecUpdateResultInfo update(cudaGraph_t with) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t answer = cudaGraphExecUpdate(exec, with, &info);
    EXPECT_EQ(
        info.result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure,
        answer);
    return info;
  }
  cudaMemsetParams line{nullptr, 0, 1, 1, 64, 1};
  cudaMemsetParams rows{nullptr, 128, 1, 1, 64, 4};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* device = nullptr;
  void* host = nullptr;
};

TEST_F(graph_update, a_fill_of_rows_changes_only_where_and_with_what) {
  line.dst = rows.dst = device;
  cudaGraphNode_t flat = fill(graph, line);
  cudaGraphNode_t tall = fill(graph, rows);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  rows.value = 9;
  rows.dst = static_cast<char*>(device) + 1024;
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemsetNodeSetParams(exec, tall, &rows));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, flat, &rows));
  rows.height = 2;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, tall, &rows));
  line.width = 128;
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemsetNodeSetParams(exec, flat, &line));
}

TEST_F(graph_update, a_copy_stays_between_the_same_kinds_of_memory_and_of_the_same_rows) {
  cudaGraphNode_t copy = nullptr;
  ASSERT_OK(
      cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, device, host, 64, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms rectangle{};
  rectangle.srcPtr = {host, 64, 16, 4};
  rectangle.dstPtr = {device, 64, 16, 4};
  rectangle.extent = {16, 4, 1};
  rectangle.kind = cudaMemcpyHostToDevice;
  cudaGraphNode_t block = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode(&block, graph, nullptr, 0, &rectangle));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemcpyNodeSetParams1D(exec, copy, device, host, 128,
                                                              cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams1D(
                                         exec, copy, host, device, 64, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, copy, &rectangle));
  EXPECT_CUDA(cudaSuccess, cudaGraphExecMemcpyNodeSetParams(exec, block, &rectangle));
  rectangle.extent = {16, 3, 1};
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, block, &rectangle));
}

TEST_F(graph_update, a_difference_is_told_with_its_place) {
  const cudaGraphNode_t first = empty(graph);
  empty(graph, first);
  empty(graph, first);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(cudaGraphExecUpdateSuccess, update(graph).result);
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  const cudaGraphNode_t a_node = empty(other);
  const cudaGraphNode_t b_node = empty(other, a_node);
  auto info = update(other);  // a node less
  EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
  EXPECT_EQ(nullptr, info.errorNode);
  const cudaGraphNode_t c_node = empty(other, b_node);  // one end less
  info = update(other);
  EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
  EXPECT_EQ(nullptr, info.errorNode);
  ASSERT_OK(cudaGraphDestroyNode(c_node));
  const cudaGraphNode_t d_node = empty(other);  // after nothing
  info = update(other);
  EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
  EXPECT_EQ(d_node, info.errorNode);
  EXPECT_EQ(nullptr, info.errorFromNode);
  ASSERT_OK(cudaGraphDestroyNode(d_node));
  line.dst = device;
  cudaGraphNode_t filled = nullptr;
  ASSERT_OK(cudaGraphAddMemsetNode(&filled, other, &a_node, 1, &line));
  info = update(other);
  EXPECT_EQ(cudaGraphExecUpdateErrorNodeTypeChanged, info.result);
  EXPECT_EQ(filled, info.errorNode);
  ASSERT_OK(cudaGraphDestroy(other));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, nullptr, &info));
}

TEST_F(graph_update, a_child_graph_takes_over_one_of_the_same_shape) {
  line.dst = device;
  cudaGraph_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&child, 0));
  const cudaGraphNode_t inside = fill(child, line);
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  line.value = 6;
  ASSERT_OK(cudaGraphMemsetNodeSetParams(inside, &line));
  ASSERT_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaMemcpyAsync(host, device, 1, cudaMemcpyDeviceToHost, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(6, *static_cast<char*>(host));
  empty(child);
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure,
              cudaGraphExecChildGraphNodeSetParams(exec, node, child));
  ASSERT_OK(cudaGraphDestroy(child));
}

TEST_F(graph_update, a_moved_child_belongs_to_its_node) {
  cudaGraph_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&child, 0));
  empty(child);
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = child;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t inside = nullptr;
  ASSERT_OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_EQ(child, inside);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(child));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, child, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, child, nullptr));
  ASSERT_OK(cudaStreamSynchronize(a));
}

TEST_F(graph_update, nodes_that_own_memory_stay_as_they_are) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = 4096;
  cudaGraphNode_t allocated = nullptr;
  cudaGraphNode_t freed = nullptr;
  ASSERT_OK(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &params));
  ASSERT_OK(cudaGraphAddMemFreeNode(&freed, graph, &allocated, 1, params.dptr));
  cudaGraphNode_t again = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphAddMemFreeNode(&again, graph, &allocated, 1, params.dptr));
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphAddMemFreeNode(&again, other, nullptr, 0, params.dptr));
  ASSERT_OK(cudaGraphDestroy(other));
  cudaGraphNodeParams generic{};
  generic.type = cudaGraphNodeTypeMemAlloc;
  generic.alloc.poolProps = params.poolProps;
  generic.alloc.bytesize = 4096;
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphNodeSetParams(allocated, &generic));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphNodeSetParams(freed, &generic));
  EXPECT_CUDA(cudaErrorNotSupported,
              cudaGraphRemoveDependencies(graph, &allocated, &freed, nullptr, 1));
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphDestroyNode(freed));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
}

TEST_F(graph_update, parameters_have_nothing_where_nothing_belongs) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeEmpty;
  params.reserved2 = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  params.reserved2 = 0;
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  const cudaGraphNode_t other = empty(graph);
  cudaGraphEdgeData data{};
  data.type = cudaGraphDependencyTypeProgrammatic;
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &node, &other, &data, 1));
}

TEST_F(graph_update, a_drawing_tells_what_its_flags_ask_for) {
  line.dst = device;
  fill(graph, line);
  const auto drawn = [&](unsigned flags) {
    const std::string path = ::testing::TempDir() + "graph_update_test.dot";
    EXPECT_CUDA(cudaSuccess, cudaGraphDebugDotPrint(graph, path.c_str(), flags));
    std::string text(4096, '\0');
    std::FILE* file = std::fopen(path.c_str(), "r");
    if (file == nullptr) return std::string{};
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    std::remove(path.c_str());
    return text;
  };
  EXPECT_EQ(std::string::npos, drawn(0).find("elementSize"));
  EXPECT_EQ(std::string::npos, drawn(cudaGraphDebugDotFlagsMemcpyNodeParams).find("elementSize"));
  EXPECT_NE(std::string::npos, drawn(cudaGraphDebugDotFlagsMemsetNodeParams).find("elementSize"));
  EXPECT_NE(std::string::npos, drawn(cudaGraphDebugDotFlagsVerbose).find("elementSize"));
  EXPECT_NE(std::string::npos, drawn(cudaGraphDebugDotFlagsHandles).find("node handle: 0x"));
}

}  // namespace

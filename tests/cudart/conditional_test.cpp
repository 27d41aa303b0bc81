// Conditional nodes without kernels: handles, bodies, and what is refused.
#include <cstring>

#include "gate.hpp"

namespace {

class conditional : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    ASSERT_OK(cudaMalloc(&device, 4));
    ASSERT_OK(cudaMemset(device, 0, 4));
  }
  void TearDown() override {
    if (exec != nullptr) {
      EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
    }
    EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaSuccess, cudaFree(device));
    with_streams::TearDown();
  }
  cudaGraphNodeParams params(cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
  }
  void add_handle(unsigned value, cudaGraph_t to = nullptr) {
    ASSERT_OK(cudaGraphConditionalHandleCreate(&handle, to != nullptr ? to : graph, value,
                                               cudaGraphCondAssignDefault));
  }
  // A body that fills with `value`.
  void fill(cudaGraph_t body, unsigned value) {
    const cudaMemsetParams p{device, 0, value, 1, 4, 1};
    cudaGraphNode_t filled = nullptr;
    ASSERT_OK(cudaGraphAddMemsetNode(&filled, body, nullptr, 0, &p));
  }
  int launched() {
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, a));
    unsigned char value[4] = {};
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(a));
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(value, device, 4, cudaMemcpyDeviceToHost));
    EXPECT_CUDA(cudaSuccess, cudaMemset(device, 0, 4));
    return value[0];
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphConditionalHandle handle = 0;
  void* device = nullptr;
};

TEST_F(conditional, the_default_value_chooses_the_body) {
  add_handle(2);
  auto p = params(cudaGraphCondTypeSwitch, 3);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  ASSERT_NE(nullptr, p.conditional.phGraph_out);
  for (unsigned i = 0; i < 3; ++i) fill(p.conditional.phGraph_out[i], 10 + i);
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  ASSERT_OK(cudaGraphNodeGetType(node, &type));
  EXPECT_EQ(cudaGraphNodeTypeConditional, type);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(12, launched());
  EXPECT_EQ(12, launched());
}

TEST_F(conditional, an_else_body_runs_for_zero) {
  add_handle(0);
  auto p = params(cudaGraphCondTypeIf, 2);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  fill(p.conditional.phGraph_out[0], 1);
  fill(p.conditional.phGraph_out[1], 2);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(2, launched());
}

TEST_F(conditional, sizes_follow_the_kind) {
  add_handle(0);
  for (const unsigned size : {0U, 2U}) {
    auto p = params(cudaGraphCondTypeWhile, size);
    EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  }
  for (const unsigned size : {0U, 3U}) {
    auto p = params(cudaGraphCondTypeIf, size);
    EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  }
  auto p = params(cudaGraphCondTypeSwitch, 0);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
}

TEST_F(conditional, a_handle_belongs_to_one_node) {
  cudaGraphConditionalHandle none = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&none, nullptr, 0, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&none, graph, 0, 8));
  auto p = params(cudaGraphCondTypeIf, 1);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  add_handle(0);
  p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  cudaGraphNode_t again = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&again, graph, nullptr, nullptr, 0, &p));
}

TEST_F(conditional, a_nested_node_may_use_a_handle_of_the_outer_graph) {
  add_handle(1);
  auto outer = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &outer));
  add_handle(0);
  auto inner = params(cudaGraphCondTypeIf, 2);
  ASSERT_OK(cudaGraphAddNode(&node, outer.conditional.phGraph_out[0], nullptr, nullptr, 0, &inner));
  fill(inner.conditional.phGraph_out[0], 5);
  fill(inner.conditional.phGraph_out[1], 6);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(6, launched());
}

TEST_F(conditional, a_handle_without_a_node_keeps_the_graph_from_being_instantiated) {
  add_handle(0);
  cudaGraphInstantiateParams report{};
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &report));
  EXPECT_EQ(cudaGraphInstantiateConditionalHandleUnused, report.result_out);
}

TEST_F(conditional, a_handle_of_another_graph_stands_for_the_one_with_its_number) {
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  add_handle(0, other);
  auto p = params(cudaGraphCondTypeIf, 2);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  const cudaGraphConditionalHandle foreign = handle;
  add_handle(1);
  const cudaGraphConditionalHandle own = handle;
  handle = foreign;
  p = params(cudaGraphCondTypeIf, 2);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  fill(p.conditional.phGraph_out[0], 7);
  handle = own;
  p = params(cudaGraphCondTypeIf, 1);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  ASSERT_OK(cudaGraphDestroy(other));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(7, launched());
}

TEST_F(conditional, a_value_without_a_default_is_what_the_last_executable_left) {
  add_handle(5);
  auto p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  fill(p.conditional.phGraph_out[0], 7);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(7, launched());
  ASSERT_OK(cudaGraphExecDestroy(exec));
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  ASSERT_OK(cudaGraphConditionalHandleCreate(&handle, other, 0, 0));
  p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &p));
  fill(p.conditional.phGraph_out[0], 9);
  ASSERT_OK(cudaGraphInstantiate(&exec, other, 0));
  EXPECT_EQ(9, launched());
  ASSERT_OK(cudaGraphDestroy(other));
}

TEST_F(conditional, a_body_has_no_host_nodes) {
  add_handle(1);
  auto p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  int calls = 0;
  const cudaHostNodeParams host{count_up, &calls};
  cudaGraphNode_t called = nullptr;
  ASSERT_OK(cudaGraphAddHostNode(&called, p.conditional.phGraph_out[0], nullptr, 0, &host));
  cudaGraphInstantiateParams report{};
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &report));
  EXPECT_EQ(cudaGraphInstantiateNodeOperationNotSupported, report.result_out);
  EXPECT_EQ(called, report.errNode_out);
}

TEST_F(conditional, such_a_graph_is_one_of_its_kind) {
  add_handle(1);
  auto p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  cudaGraph_t other = nullptr;
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphClone(&other, graph));
  ASSERT_OK(cudaGraphCreate(&other, 0));
  cudaGraphNode_t child = nullptr;
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&child, other, nullptr, 0, graph));
  ASSERT_OK(cudaGraphDestroy(other));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaGraphExec_t second = nullptr;
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphInstantiate(&second, graph, 0));
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(p.conditional.phGraph_out[0]));
  EXPECT_CUDA(cudaErrorNotSupported,
              cudaGraphInstantiate(&second, p.conditional.phGraph_out[0], 0));
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphNodeSetParams(node, &p));
  EXPECT_CUDA(cudaErrorNotSupported, cudaGraphExecNodeSetParams(exec, node, &p));
}

TEST_F(conditional, a_body_is_filled_by_capture) {
  add_handle(1);
  auto p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  ASSERT_OK(cudaStreamBeginCaptureToGraph(a, p.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal));
  ASSERT_OK(cudaMemsetAsync(device, 9, 4, a));
  ASSERT_OK(cudaStreamEndCapture(a, nullptr));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(9, launched());
}

TEST_F(conditional, nodes_of_a_body_change_in_the_executable) {
  add_handle(1);
  auto p = params(cudaGraphCondTypeIf, 1);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  cudaMemsetParams value{device, 0, 3, 1, 4, 1};
  cudaGraphNode_t filled = nullptr;
  ASSERT_OK(cudaGraphAddMemsetNode(&filled, p.conditional.phGraph_out[0], nullptr, 0, &value));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(3, launched());
  value.value = 4;
  ASSERT_OK(cudaGraphExecMemsetNodeSetParams(exec, filled, &value));
  EXPECT_EQ(4, launched());
  ASSERT_OK(cudaGraphNodeSetEnabled(exec, filled, 0));
  EXPECT_EQ(0, launched());
}

TEST_F(conditional, an_update_brings_the_other_graphs_values_and_bodies) {
  add_handle(1);
  auto p = params(cudaGraphCondTypeIf, 2);
  ASSERT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  fill(p.conditional.phGraph_out[0], 1);
  fill(p.conditional.phGraph_out[1], 2);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(1, launched());
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  add_handle(0, other);
  auto q = params(cudaGraphCondTypeIf, 2);
  ASSERT_OK(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &q));
  fill(q.conditional.phGraph_out[0], 3);
  fill(q.conditional.phGraph_out[1], 4);
  cudaGraphExecUpdateResultInfo info{};
  ASSERT_OK(cudaGraphExecUpdate(exec, other, &info));
  ASSERT_OK(cudaGraphDestroy(other));
  EXPECT_EQ(4, launched());
  ASSERT_OK(cudaGraphCreate(&other, 0));
  add_handle(0, other);
  q = params(cudaGraphCondTypeSwitch, 2);
  ASSERT_OK(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &q));
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(cudaGraphExecUpdateErrorNotSupported, info.result);
  EXPECT_EQ(node, info.errorNode);
  ASSERT_OK(cudaGraphDestroy(other));
}

}  // namespace

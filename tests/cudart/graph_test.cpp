#include <atomic>
#include <vector>

#include "gate.hpp"

namespace {

class graphs : public with_streams {
 protected:
  void SetUp() override {
    with_streams::SetUp();
    ASSERT_OK(cudaGraphCreate(&graph, 0));
  }
  void TearDown() override {
    if (exec != nullptr) {
      EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
    }
    if (graph != nullptr) {
      EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
    }
    with_streams::TearDown();
  }
  cudaGraphNode_t host(cudaHostFn_t function, void* data,
                       const std::vector<cudaGraphNode_t>& before = {}) {
    const cudaHostNodeParams params{function, data};
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaSuccess,
                cudaGraphAddHostNode(&node, graph, before.data(), before.size(), &params));
    return node;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

TEST_F(graphs, nodes_run_in_the_order_of_their_edges) {
  struct step {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  step steps[3] = {{&order, 0}, {&order, 1}, {&order, 2}};
  const auto note = [](void* data) {
    const auto& s = *static_cast<step*>(data);
    s.order->push_back(s.number);
  };
  cudaGraphNode_t last = host(note, &steps[2]);
  cudaGraphNode_t first = host(note, &steps[0]);
  cudaGraphNode_t middle = host(note, &steps[1], {first});
  ASSERT_OK(cudaGraphAddDependencies(graph, &middle, &last, nullptr, 1));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ((std::vector<int>{0, 1, 2, 0, 1, 2}), order);
}

TEST_F(graphs, a_launch_returns_before_its_nodes_run_and_takes_its_place_in_the_stream) {
  int ran = 0;
  host(count_up, &ran);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  gate g;
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(a));
  g.wait_until_entered();
  EXPECT_EQ(0, ran);
  g.open();
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(1, ran);
}

TEST_F(graphs, an_executable_never_runs_beside_itself) {
  gate g;
  cudaEvent_t second = nullptr;
  ASSERT_OK(cudaEventCreate(&second));
  host([](void* data) { static_cast<gate*>(data)->wait_until_entered(); }, &g);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(g.close(a));
  ASSERT_OK(cudaGraphLaunch(exec, a));  // behind the gate
  ASSERT_OK(cudaGraphLaunch(exec, b));  // its stream is free, its executable is not
  ASSERT_OK(cudaEventRecord(second, b));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(second));
  g.open();
  ASSERT_OK(cudaEventSynchronize(second));
  ASSERT_OK(cudaEventDestroy(second));
}

TEST_F(graphs, a_cycle_is_found_at_instantiation) {
  int ran = 0;
  cudaGraphNode_t first = host(count_up, &ran);
  cudaGraphNode_t second = host(count_up, &ran, {first});
  ASSERT_OK(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  cudaGraphExec_t none = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(&none, graph, 0));
  EXPECT_EQ(nullptr, none);
}

TEST_F(graphs, edges_are_added_once_and_removed_once) {
  int ran = 0;
  cudaGraphNode_t first = host(count_up, &ran);
  cudaGraphNode_t second = host(count_up, &ran, {first});
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &first, &first, nullptr, 1));
  EXPECT_CUDA(cudaSuccess, cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  const cudaGraphNode_t twice[] = {first, first};
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, twice, 2));
}

TEST_F(graphs, a_destroyed_node_takes_its_edges_along) {
  int ran = 0;
  cudaGraphNode_t first = host(count_up, &ran);
  cudaGraphNode_t second = host(count_up, &ran, {first});
  host(count_up, &ran, {second});
  ASSERT_OK(cudaGraphDestroyNode(second));
  size_t nodes = 0;
  size_t edges = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(2U, nodes);
  EXPECT_EQ(0U, edges);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroyNode(second));
}

TEST_F(graphs, an_executable_outlives_its_graph) {
  int ran = 0;
  host(count_up, &ran);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphDestroy(graph));
  graph = nullptr;
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(1, ran);
}

TEST_F(graphs, a_setter_changes_the_executable_and_not_the_graph) {
  int old_count = 0;
  int new_count = 0;
  cudaGraphNode_t node = host(count_up, &old_count);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  const cudaHostNodeParams params{count_up, &new_count};
  ASSERT_OK(cudaGraphExecHostNodeSetParams(exec, node, &params));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(0, old_count);
  EXPECT_EQ(1, new_count);
  cudaHostNodeParams kept{};
  ASSERT_OK(cudaGraphHostNodeGetParams(node, &kept));
  EXPECT_EQ(&old_count, kept.userData);
}

TEST_F(graphs, a_clone_knows_its_originals_nodes) {
  int ran = 0;
  cudaGraphNode_t node = host(count_up, &ran);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t twin = nullptr;
  ASSERT_OK(cudaGraphClone(&clone, graph));
  ASSERT_OK(cudaGraphNodeFindInClone(&twin, node, clone));
  EXPECT_NE(node, twin);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&twin, node, graph));
  ASSERT_OK(cudaGraphDestroy(clone));
}

TEST_F(graphs, an_update_takes_parameters_and_refuses_another_shape) {
  int old_count = 0;
  int new_count = 0;
  host(count_up, &old_count);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaGraph_t other = nullptr;
  ASSERT_OK(cudaGraphCreate(&other, 0));
  const cudaHostNodeParams params{count_up, &new_count};
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddHostNode(&node, other, nullptr, 0, &params));
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_CUDA(cudaSuccess, cudaGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(cudaGraphExecUpdateSuccess, info.result);
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ(0, old_count);
  EXPECT_EQ(1, new_count);
  ASSERT_OK(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(cudaGraphExecUpdateErrorTopologyChanged, info.result);
  ASSERT_OK(cudaGraphDestroy(other));
  cudaGetLastError();
}

TEST_F(graphs, a_child_graph_runs_between_its_neighbours) {
  struct note_in {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  note_in notes[3] = {{&order, 0}, {&order, 1}, {&order, 2}};
  const auto note = [](void* data) {
    static_cast<note_in*>(data)->order->push_back(static_cast<note_in*>(data)->number);
  };
  cudaGraph_t child = nullptr;
  ASSERT_OK(cudaGraphCreate(&child, 0));
  const cudaHostNodeParams inside{note, &notes[1]};
  cudaGraphNode_t inner = nullptr;
  ASSERT_OK(cudaGraphAddHostNode(&inner, child, nullptr, 0, &inside));
  cudaGraphNode_t first = host(note, &notes[0]);
  cudaGraphNode_t node = nullptr;
  ASSERT_OK(cudaGraphAddChildGraphNode(&node, graph, &first, 1, child));
  host(note, &notes[2], {node});
  ASSERT_OK(cudaGraphDestroy(child));  // the node has a copy
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, a));
  ASSERT_OK(cudaStreamSynchronize(a));
  EXPECT_EQ((std::vector<int>{0, 1, 2}), order);
}

TEST_F(graphs, wrong_handles_are_refused) {
  size_t count = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphUpload(nullptr, a));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphExecDestroy(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphGetNodes(nullptr, nullptr, &count));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(nullptr, graph, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 1024));
  cudaGraph_t other = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphCreate(&other, 1));
}

TEST_F(graphs, a_user_object_goes_with_the_last_graph_that_holds_it) {
  std::atomic<int> destroyed{0};
  cudaUserObject_t object = nullptr;
  ASSERT_OK(cudaUserObjectCreate(
      &object, &destroyed, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, 1,
      cudaUserObjectNoDestructorSync));
  ASSERT_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphDestroy(graph));
  graph = nullptr;
  EXPECT_EQ(0, destroyed);
  ASSERT_OK(cudaGraphExecDestroy(exec));
  exec = nullptr;
  EXPECT_EQ(1, destroyed);
}

}  // namespace

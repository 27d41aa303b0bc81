// Kernels that allocate: lists of nodes that lie where the heap has them, which is elsewhere in
// every run.
#include <cstdio>

struct node {
  int value;
  node* next;
};

__global__ void build(node** lists, int length) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  node* list = nullptr;
  for (int i = 0; i < length; ++i) {
    auto* const one = static_cast<node*>(malloc(sizeof(node) + (t % 3) * 8));
    one->value = t + i;
    one->next = list;
    list = one;
  }
  lists[t] = list;
}

__global__ void sum(node** lists, int* sums) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int all = 0;
  for (const node* one = lists[t]; one != nullptr; one = one->next) all += one->value;
  sums[t] = all;
}

__global__ void release(node** lists) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (node* one = lists[t]; one != nullptr;) {
    node* const next = one->next;
    free(one);
    one = next;
  }
}

int main() {
  constexpr int threads = 128, blocks = 24, length = 7;
  node** lists;
  int *sums, sum_of[threads * blocks];
  cudaMalloc(&lists, threads * blocks * sizeof(node*));
  cudaMalloc(&sums, sizeof sum_of);
  for (int round = 0; round < 3; ++round) {
    build<<<blocks, threads>>>(lists, length);
    sum<<<blocks, threads>>>(lists, sums);
    release<<<blocks, threads>>>(lists);
  }
  cudaMemcpy(sum_of, sums, sizeof sum_of, cudaMemcpyDeviceToHost);
  long all = 0;
  for (const int one : sum_of) all += one;
  std::printf("%ld %s\n", all, cudaGetErrorName(cudaGetLastError()));
}

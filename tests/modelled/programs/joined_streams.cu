// Turns of short kernels in several streams that are ordered by events.
// joined_streams fork|pairs|halves|copies|across as_is|applied
//   fork: a kernel, behind it one in each of two other streams, and two more behind both;
//   pairs: one in each of two streams in turn, ten in a turn; halves: five in one, then five in the
//   other one, ten in all; copies: with a copy in front, one back in the other stream, and a wait
//   of the host; across: what one stream makes, the other one uses in the next turn
// applied: one graph, captured over all streams
#include <string_view>

namespace {

__global__ void step(const float* from, float* to) { to[threadIdx.x] += from[threadIdx.x]; }

float* device[3];
float *host, *back;
cudaStream_t s[3];
cudaEvent_t forked, joined[3];

void launch(int from, int to, int stream) {
  step<<<1, 32, 0, s[stream]>>>(device[from], device[to]);
}

void order(cudaEvent_t event, int first, int second) {
  cudaEventRecord(event, s[first]);
  cudaStreamWaitEvent(s[second], event, 0);
}

void fork() {
  launch(0, 0, 0);
  cudaEventRecord(forked, s[0]);
  for (int i = 1; i < 3; ++i) {
    cudaStreamWaitEvent(s[i], forked, 0);
    launch(0, i, i);
    order(joined[i], i, 0);
  }
  for (int i = 1; i < 3; ++i) launch(i, 0, 0);
}

void pairs(int each) {
  for (int k = 0; k < 10 / each; ++k) {
    for (int i = 0; i < each; ++i) launch(0, 0, 0);
    order(forked, 0, 1);
    for (int i = 0; i < each; ++i) launch(0, 1, 1);
    order(joined[1], 1, 0);
  }
}

void copies() {
  cudaMemcpyAsync(device[0], host, 1024, cudaMemcpyHostToDevice, s[0]);
  for (int i = 0; i < 4; ++i) launch(0, 0, 0);
  order(forked, 0, 1);
  for (int i = 0; i < 4; ++i) launch(0, 1, 1);
  cudaMemcpyAsync(back, device[1], 1024, cudaMemcpyDeviceToHost, s[1]);
  order(joined[1], 1, 0);
}

void across(int turn) {
  for (int i = 0; i < 4; ++i) launch(2, turn % 2, 0);
  cudaEventRecord(joined[turn % 2], s[0]);
  if (turn > 0) cudaStreamWaitEvent(s[1], joined[(turn + 1) % 2], 0);
  for (int i = 0; i < 4; ++i) launch((turn + 1) % 2, 2, 1);
  order(forked, 1, 0);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string_view what = words[1];
  const bool applied = std::string_view(words[2]) == "applied";
  cudaMallocHost(&host, 1024);
  cudaMallocHost(&back, 1024);
  for (float*& one : device) cudaMalloc(&one, 1024);
  for (cudaStream_t& one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  for (cudaEvent_t& one : joined) cudaEventCreateWithFlags(&one, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  launch(0, 0, 0);
  cudaStreamSynchronize(s[0]);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  for (int turn = 0; turn < 60; ++turn) {
    if (applied && turn == 0) cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
    if (!applied || turn == 0) {
      if (what == "fork") fork();
      if (what == "pairs") pairs(1);
      if (what == "halves") pairs(5);
      if (what == "copies") copies();
      if (what == "across") across(turn);
    }
    if (applied && turn == 0) {
      cudaStreamEndCapture(s[0], &graph);
      cudaGraphInstantiate(&exec, graph, 0);
    }
    if (applied) cudaGraphLaunch(exec, s[0]);
    if (what == "copies") cudaStreamSynchronize(s[0]);
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

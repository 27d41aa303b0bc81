// Memory and events between processes: `ipc` starts itself as the other process.
#include "probe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

struct Shared {
  cudaIpcMemHandle_t small, large, freed;
  cudaIpcEventHandle_t event, destroyed;
};

static void put(int fd, const void* p, size_t n) { if (write(fd, p, n) != (ssize_t)n) _exit(9); }
static void get(int fd, void* p, size_t n) { for (size_t got = 0; got < n;) { ssize_t k = read(fd, (char*)p + got, n - got); if (k <= 0) _exit(8); got += k; } }

static int child(int in, int out) {
  Shared h;
  get(in, &h, sizeof h);
  void *a = nullptr, *b = nullptr, *x = nullptr;
  say("child.open.flags0", cudaIpcOpenMemHandle(&a, h.small, 0));
  say("child.open.flags2", cudaIpcOpenMemHandle(&a, h.small, 2));
  say("child.open", cudaIpcOpenMemHandle(&a, h.small, cudaIpcMemLazyEnablePeerAccess));
  say("child.open.again", cudaIpcOpenMemHandle(&b, h.small, cudaIpcMemLazyEnablePeerAccess));
  say("child.open.same", a == b);
  say("child.open.freed", cudaIpcOpenMemHandle(&x, h.freed, cudaIpcMemLazyEnablePeerAccess));
  cudaGetLastError();
  cudaIpcMemHandle_t garbage;
  std::memset(&garbage, 0x5a, sizeof garbage);
  say("child.open.garbage", cudaIpcOpenMemHandle(&x, garbage, cudaIpcMemLazyEnablePeerAccess));
  cudaGetLastError();
  cudaPointerAttributes pa{};
  say("child.attr", cudaPointerGetAttributes(&pa, a));
  say("child.attr.type", (int)pa.type);
  char v = 0;
  say("child.read", cudaMemcpy(&v, a, 1, cudaMemcpyDeviceToHost));
  say("child.value", (int)v);
  say("child.free", cudaFree(a));
  say("child.reexport", cudaIpcGetMemHandle(&garbage, a));
  say("child.close.inside", cudaIpcCloseMemHandle((char*)a + 16));
  say("child.close", cudaIpcCloseMemHandle(a));
  say("child.read.after.first.close", cudaMemcpy(&v, a, 1, cudaMemcpyDeviceToHost));
  say("child.close.second", cudaIpcCloseMemHandle(a));
  say("child.close.third", cudaIpcCloseMemHandle(a));
  cudaGetLastError();
  // Whether closing waits for work of the device.
  MUST(cudaIpcOpenMemHandle(&a, h.large, cudaIpcMemLazyEnablePeerAccess));
  cudaStream_t s;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  {
    Gate g;
    g.close(s);
    say("child.close.returns.while.busy", returns_within([&] { cudaIpcCloseMemHandle(a); }, [&] { g.open(); }));
    MUST(cudaStreamSynchronize(s));
  }
  cudaEvent_t e = nullptr, e2 = nullptr;
  say("child.event.open", cudaIpcOpenEventHandle(&e, h.event));
  say("child.event.open.again", cudaIpcOpenEventHandle(&e2, h.event));
  say("child.event.same", e == e2);
  say("child.event.open.destroyed", cudaIpcOpenEventHandle(&e2, h.destroyed));
  cudaGetLastError();
  cudaIpcEventHandle_t eg;
  std::memset(&eg, 0x5a, sizeof eg);
  say("child.event.garbage", cudaIpcOpenEventHandle(&e2, eg));
  cudaGetLastError();
  say("child.event.reexport", cudaIpcGetEventHandle(&eg, e));
  say("child.event.query.unrecorded", cudaEventQuery(e));
  float ms;
  say("child.event.elapsed", cudaEventElapsedTime(&ms, e, e));
  cudaGetLastError();
  char c = 'r';
  put(out, &c, 1);  // ready
  get(in, &c, 1);   // the parent has recorded behind a gate
  say("child.event.query.held", cudaEventQuery(e));
  MUST(cudaStreamWaitEvent(s, e, 0));
  say("child.stream.held", cudaStreamQuery(s));
  put(out, &c, 1);  // the parent opens
  say("child.stream.sync", cudaStreamSynchronize(s));
  say("child.event.query.done", cudaEventQuery(e));
  // Recorded here, seen there; then we are killed with a record pending.
  Gate* g = new Gate;
  g->close(s);
  MUST(cudaEventRecord(e, s));
  put(out, &c, 1);
  get(in, &c, 1);
  std::fflush(stdout);
  raise(SIGKILL);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 4) return child(std::atoi(argv[2]), std::atoi(argv[3]));
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return 1;
  pid_t pid = fork();
  if (pid == 0) {
    close(down[1]);
    close(up[0]);
    std::string a = std::to_string(down[0]), b = std::to_string(up[1]);
    execl("/proc/self/exe", argv[0], "child", a.c_str(), b.c_str(), nullptr);
    _exit(7);
  }
  close(down[0]);
  close(up[1]);
  // Never hangs: the process ends with what it printed.
  std::thread([=] { std::this_thread::sleep_for(std::chrono::seconds(50)); std::printf("watchdog\tended\n"); std::fflush(stdout); kill(pid, SIGKILL); _exit(4); }).detach();
  char *small, *large, *freed, *pool, *pinned, *managed;
  MUST(cudaMalloc(&small, 1000));
  MUST(cudaMalloc(&large, 8 << 20));
  MUST(cudaMalloc(&freed, 4 << 20));
  MUST(cudaMallocHost(&pinned, 64));
  MUST(cudaMallocManaged(&managed, 64));
  MUST(cudaMallocAsync(&pool, 64, 0));
  MUST(cudaMemset(small, 42, 1000));
  MUST(cudaDeviceSynchronize());
  Shared h{};
  cudaIpcMemHandle_t x, y;
  say("get.pinned", cudaIpcGetMemHandle(&x, pinned));
  say("get.managed", cudaIpcGetMemHandle(&x, managed));
  say("get.pool", cudaIpcGetMemHandle(&x, pool));
  cudaGetLastError();
  say("get.small", cudaIpcGetMemHandle(&h.small, small));
  say("get.inside", cudaIpcGetMemHandle(&x, small + 100));
  say("get.again", cudaIpcGetMemHandle(&y, small));
  say("get.again.same", std::memcmp(&h.small, &y, sizeof y) == 0);
  say("get.large", cudaIpcGetMemHandle(&h.large, large));
  MUST(cudaIpcGetMemHandle(&h.freed, freed));
  MUST(cudaFree(freed));
  void* p = nullptr;
  say("open.own", cudaIpcOpenMemHandle(&p, h.small, cudaIpcMemLazyEnablePeerAccess));
  say("close.own", cudaIpcCloseMemHandle(small));
  cudaGetLastError();
  cudaEvent_t e, plain, gone, timed, opened = nullptr;
  say("event.create", cudaEventCreateWithFlags(&e, cudaEventInterprocess | cudaEventDisableTiming));
  say("event.create.timing", cudaEventCreateWithFlags(&timed, cudaEventInterprocess));
  MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&gone, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t eh;
  say("event.get.plain", cudaIpcGetEventHandle(&eh, plain));
  cudaGetLastError();
  say("event.get", cudaIpcGetEventHandle(&h.event, e));
  MUST(cudaIpcGetEventHandle(&h.destroyed, gone));
  MUST(cudaEventDestroy(gone));
  say("event.open.own", cudaIpcOpenEventHandle(&opened, h.event));
  cudaGetLastError();
  put(down[1], &h, sizeof h);
  char c = 0;
  get(up[0], &c, 1);
  cudaStream_t s, s2;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  Gate g;
  g.close(s);
  MUST(cudaEventRecord(e, s));
  put(down[1], &c, 1);
  get(up[0], &c, 1);
  g.open();
  get(up[0], &c, 1);
  say("parent.event.query.held", cudaEventQuery(e));
  MUST(cudaStreamWaitEvent(s2, e, 0));
  say("parent.stream.held", cudaStreamQuery(s2));
  put(down[1], &c, 1);
  int status = 0;
  waitpid(pid, &status, 0);
  bool over = wait_until([&] { return cudaStreamQuery(s2) != cudaErrorNotReady; }, 10000);
  say("parent.stream.after.kill", over);
  if (over) say("parent.stream.after.kill.is", cudaStreamQuery(s2));
  if (over) say("parent.event.after.kill.is", cudaEventQuery(e));
  say("end", "ipc");
  std::fflush(stdout);
  _exit(0);
}

// Sizes and numbers at which behaviour changes: staging of pageable copies, pending kernels; and, when run
// with CUDA_DEVICE_MAX_CONNECTIONS=1, which operations stand in one queue.
#include "probe.h"
int main() {
  MUST(cudaFree(0)); const char* env = getenv("CUDA_DEVICE_MAX_CONNECTIONS"); bool one = env && std::string(env) == "1";
  char *d, *d2, *hp; size_t big = 64 << 20; char* page = (char*)malloc(big); for (size_t i = 0; i < big; i += 4096) page[i] = 1;
  MUST(cudaMalloc((void**)&d, big)); MUST(cudaMalloc((void**)&d2, big)); MUST(cudaMallocHost((void**)&hp, big)); int* m; MUST(cudaHostAlloc((void**)&m, 4096, cudaHostAllocMapped));
  cudaStream_t s[3]; for (auto& x : s) MUST(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); cudaEvent_t e; MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  { Gate g; g.open(); g.close(s[0]); } mark_kernel<<<1, 1>>>(m, 0); nop_kernel<<<1, 1>>>(); MUST(cudaMemcpy(d, page, 1 << 20, cudaMemcpyHostToDevice)); MUST(cudaMemcpy(d2, d, 1 << 20, cudaMemcpyDeviceToDevice)); MUST(cudaMemset(d, 0, 4096)); MUST(cudaDeviceSynchronize());
  if (!one) {
    for (size_t n : {(size_t)65536, (size_t)1 << 20, (size_t)(1 << 20) + 1, (size_t)3 << 19, (size_t)2 << 20, (size_t)(2 << 20) + 4096, (size_t)3 << 20, (size_t)4 << 20, (size_t)(4 << 20) + 4096, (size_t)5 << 20, (size_t)6 << 20, (size_t)8 << 20}) { Gate g; g.close(s[0]); bool q = returns_within([&] { cudaMemcpyAsync(d, page, n, cudaMemcpyHostToDevice, s[0]); }, [&] { g.open(); }, 150); say("staged.h2d.pageable." + std::to_string(n), q); MUST(cudaDeviceSynchronize()); }
    for (int k : {2, 4, 8, 16, 32}) { Gate g; g.close(s[0]); bool q = returns_within([&] { for (int i = 0; i < k; i++) cudaMemcpyAsync(d + (i << 20), page + (i << 20), 1 << 20, cudaMemcpyHostToDevice, s[0]); }, [&] { g.open(); }, 150); say("staged.h2d.pageable.1M.times" + std::to_string(k), q); MUST(cudaDeviceSynchronize()); }
    for (size_t n : {(size_t)64, (size_t)4096, (size_t)65536, (size_t)1 << 20}) { page[0] = 7; Gate g; g.close(s[0]); MUST(cudaMemcpyAsync(d, page, n, cudaMemcpyHostToDevice, s[0])); page[0] = 9; g.open(); MUST(cudaDeviceSynchronize()); char c; MUST(cudaMemcpy(&c, d, 1, cudaMemcpyDeviceToHost)); say("staged.h2d.pageable.snapshot." + std::to_string(n), (int)c); }
    { hp[0] = 7; Gate g; g.close(s[0]); MUST(cudaMemcpyAsync(d, hp, 4, cudaMemcpyHostToDevice, s[0])); hp[0] = 9; g.open(); MUST(cudaDeviceSynchronize()); char c; MUST(cudaMemcpy(&c, d, 1, cudaMemcpyDeviceToHost)); say("pinned.h2d.snapshot.4", (int)c); }
    for (int depth : {100, 500, 900, 1000, 1020, 1024, 1030, 1100, 2000, 4000}) { Gate g; g.close(s[0]); bool q = returns_within([&] { for (int i = 0; i < depth; i++) nop_kernel<<<1, 1, 0, s[0]>>>(); }, [&] { g.open(); }, 300); say("queue.depth.kernels." + std::to_string(depth), q); MUST(cudaDeviceSynchronize()); }
  } else {
    auto held = [&](const std::string& name, const std::function<void(cudaStream_t)>& op) { Gate g; g.close(s[0]); nop_kernel<<<1, 1, 0, s[0]>>>(); op(s[1]); MUST(cudaEventRecord(e, s[1])); bool ran = wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 80); cudaGetLastError(); say("one.behind.stuck.kernel." + name, ran); g.open(); MUST(cudaDeviceSynchronize()); };
    auto heldby = [&](const std::string& by, const std::function<void(cudaStream_t)>& stuck, const std::string& name, const std::function<void(cudaStream_t)>& op) { Gate g; g.close(s[0]); stuck(s[0]); op(s[1]); MUST(cudaEventRecord(e, s[1])); bool ran = wait_until([&] { return cudaEventQuery(e) == cudaSuccess; }, 80); cudaGetLastError(); say("one.behind.stuck." + by + "." + name, ran); g.open(); MUST(cudaDeviceSynchronize()); };
    std::vector<std::pair<std::string, std::function<void(cudaStream_t)>>> ops;
    for (size_t n : {(size_t)4, (size_t)256, (size_t)4096, (size_t)16384, (size_t)32768, (size_t)65536, (size_t)262144, (size_t)1 << 20, (size_t)8 << 20}) { ops.push_back({"h2d." + std::to_string(n), [=](cudaStream_t q) { MUST(cudaMemcpyAsync(d, hp, n, cudaMemcpyHostToDevice, q)); }}); ops.push_back({"d2h." + std::to_string(n), [=](cudaStream_t q) { MUST(cudaMemcpyAsync(hp, d, n, cudaMemcpyDeviceToHost, q)); }}); ops.push_back({"d2d." + std::to_string(n), [=](cudaStream_t q) { MUST(cudaMemcpyAsync(d2, d, n, cudaMemcpyDeviceToDevice, q)); }}); ops.push_back({"memset." + std::to_string(n), [=](cudaStream_t q) { MUST(cudaMemsetAsync(d, 0, n, q)); }}); }
    ops.push_back({"kernel", [=](cudaStream_t q) { nop_kernel<<<1, 1, 0, q>>>(); }}); ops.push_back({"record.only", [=](cudaStream_t) {}}); ops.push_back({"hostfunc", [=](cudaStream_t q) { MUST(cudaLaunchHostFunc(q, [](void*) {}, nullptr)); }});
    for (auto& o : ops) held(o.first, o.second);
    auto pick = [&](const std::string& n) { for (auto& o : ops) if (o.first == n) return o; return ops[0]; };
    for (auto by : {"h2d.4", "h2d.65536", "h2d.1048576", "d2h.4", "d2h.1048576", "d2d.4096", "d2d.1048576", "memset.4096", "hostfunc"}) for (auto op : {"kernel", "h2d.4", "h2d.65536", "h2d.1048576", "d2h.4", "d2h.1048576", "d2d.1048576", "memset.4096"}) heldby(by, pick(by).second, op, pick(op).second);
  }
  say("end", "ok");
}

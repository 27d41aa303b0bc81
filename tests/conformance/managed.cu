// Managed memory of which a part was advised or prefetched, and wrong parameters for pools' access,
// allocation nodes, kernel nodes' attributes and host allocations. One section per process.
#include <cstring>

#include "probe.h"

static cudaMemLocation device(int id) {
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  location.id = id;
  return location;
}
static cudaMemLocation host() {
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeHost;
  return location;
}
static void answer(const std::string& key, cudaError_t e) {
  say(key, e);
  cudaGetLastError();
}

static const size_t page = 4096;
static char* base;
static void fresh() {
  MUST(cudaMallocManaged(&base, 2 * page));
  memset(base, 0, 2 * page);
}

static void ask(const std::string& key, size_t from, size_t bytes) {
  struct {
    const char* name;
    cudaMemRangeAttribute which;
    int count;
  } all[] = {{"readmostly", cudaMemRangeAttributeReadMostly, 1},
             {"preferred", cudaMemRangeAttributePreferredLocation, 1},
             {"prefetched", cudaMemRangeAttributeLastPrefetchLocation, 1},
             {"accessedby", cudaMemRangeAttributeAccessedBy, 4}};
  for (auto& one : all) {
    int values[4] = {77, 77, 77, 77};
    cudaError_t e = cudaMemRangeGetAttribute(values, 4 * one.count, one.which, base + from, bytes);
    std::string text = cudaGetErrorName(e);
    for (int i = 0; i < one.count; ++i) text += " " + std::to_string(values[i]);
    say(key + "." + one.name, text);
    cudaGetLastError();
  }
}
static void asks(const std::string& key) {
  ask(key + ".part", 0, page);
  ask(key + ".rest", page, page);
  ask(key + ".whole", 0, 2 * page);
  ask(key + ".bytes", 100, 200);
  ask(key + ".across", page - 8, 16);
}

static void ranges() {
  fresh();
  asks("fresh");
  answer("advise.readmostly", cudaMemAdvise(base, page, cudaMemAdviseSetReadMostly, device(0)));
  asks("readmostly");
  answer("unset.readmostly",
         cudaMemAdvise(base, 2 * page, cudaMemAdviseUnsetReadMostly, device(0)));
  asks("unset.readmostly");
  fresh();
  answer("advise.preferred",
         cudaMemAdvise(base, page, cudaMemAdviseSetPreferredLocation, device(0)));
  asks("preferred");
  answer("advise.preferred.host",
         cudaMemAdvise(base + page, page, cudaMemAdviseSetPreferredLocation, host()));
  asks("preferred.host");
  answer("unset.preferred",
         cudaMemAdvise(base, page, cudaMemAdviseUnsetPreferredLocation, device(0)));
  asks("preferred.unset");
  fresh();
  answer("advise.accessedby.host", cudaMemAdvise(base, page, cudaMemAdviseSetAccessedBy, host()));
  answer("advise.accessedby", cudaMemAdvise(base, page, cudaMemAdviseSetAccessedBy, device(0)));
  asks("accessedby");
  answer("unset.accessedby", cudaMemAdvise(base, page, cudaMemAdviseUnsetAccessedBy, device(0)));
  asks("accessedby.unset");
  fresh();
  answer("prefetch", cudaMemPrefetchAsync(base, page, device(0), 0, 0));
  MUST(cudaDeviceSynchronize());
  asks("prefetch");
  answer("prefetch.host", cudaMemPrefetchAsync(base, 2 * page, host(), 0, 0));
  MUST(cudaDeviceSynchronize());
  asks("prefetch.host");
  fresh();
  answer("advise.odd", cudaMemAdvise(base + 100, 50, cudaMemAdviseSetReadMostly, device(0)));
  asks("odd");
  answer("advise.over.the.edge",
         cudaMemAdvise(base + page - 1, 2, cudaMemAdviseSetReadMostly, device(0)));
  asks("edge");
}

static void refusals() {
  fresh();
  void* plain;
  MUST(cudaMalloc(&plain, page));
  void* pageable = malloc(page);
  int value = 77;
  const auto mostly = cudaMemAdviseSetReadMostly;
  answer("advise.zero", cudaMemAdvise(base, 0, mostly, device(0)));
  answer("advise.beyond", cudaMemAdvise(base, 1 << 20, mostly, device(0)));
  answer("advise.plain", cudaMemAdvise(plain, page, mostly, device(0)));
  answer("advise.pageable", cudaMemAdvise(pageable, 64, mostly, device(0)));
  answer("advise.device9", cudaMemAdvise(base, page, cudaMemAdviseSetPreferredLocation, device(9)));
  answer("prefetch.device9", cudaMemPrefetchAsync(base, page, device(9), 0, 0));
  answer("prefetch.zero", cudaMemPrefetchAsync(base, 0, device(0), 0, 0));
  answer("prefetch.beyond", cudaMemPrefetchAsync(base, 1 << 24, device(0), 0, 0));
  answer("prefetch.flags", cudaMemPrefetchAsync(base, page, device(0), 1, 0));
  answer("prefetch.plain", cudaMemPrefetchAsync(plain, page, device(0), 0, 0));
  const auto read = cudaMemRangeAttributeReadMostly;
  answer("get.plain", cudaMemRangeGetAttribute(&value, 4, read, plain, 64));
  answer("get.size", cudaMemRangeGetAttribute(&value, 3, read, base, page));
  answer("get.zero", cudaMemRangeGetAttribute(&value, 4, read, base, 0));
  answer("get.null", cudaMemRangeGetAttribute(nullptr, 4, read, base, page));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  answer("attach.host", cudaStreamAttachMemAsync(0, base, 0, cudaMemAttachHost));
  answer("attach.single", cudaStreamAttachMemAsync(0, base, 0, cudaMemAttachSingle));
  answer("attach.single.legacy",
         cudaStreamAttachMemAsync(cudaStreamLegacy, base, 0, cudaMemAttachSingle));
  answer("attach.single.perthread",
         cudaStreamAttachMemAsync(cudaStreamPerThread, base, 0, cudaMemAttachSingle));
  answer("attach.length", cudaStreamAttachMemAsync(0, base, 100, cudaMemAttachGlobal));
  answer("attach.single.stream", cudaStreamAttachMemAsync(stream, base, 0, cudaMemAttachSingle));
  answer("attach.plain", cudaStreamAttachMemAsync(stream, plain, 0, cudaMemAttachGlobal));
  answer("attach.flags", cudaStreamAttachMemAsync(stream, base, 0, 99));
  for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 15u, 16u, 32u, 0x40000000u, 0x80000000u}) {
    void* out = nullptr;
    answer("hostalloc." + std::to_string(flags), cudaHostAlloc(&out, 64, flags));
  }
}

static void access() {
  cudaMemPool_t pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = device(0);
  MUST(cudaMemPoolCreate(&pool, &properties));
  const auto both = cudaMemAccessFlagsProtReadWrite;
  const auto wrong = static_cast<cudaMemAccessFlags>(0xffff);
  const auto set = [&](const char* key, cudaMemAccessFlags flags, cudaMemLocation location,
                       size_t count = 1) {
    cudaMemAccessDesc description{};
    description.flags = flags;
    description.location = location;
    answer(std::string("access.") + key, cudaMemPoolSetAccess(pool, &description, count));
  };
  cudaMemLocation nowhere{};
  set("own", both, device(0));
  set("flag", wrong, device(0));
  set("none.own", cudaMemAccessFlagsProtNone, device(0));
  set("read.own", cudaMemAccessFlagsProtRead, device(0));
  set("minus", both, device(-1));
  set("beyond", both, device(1));
  set("flag.beyond", wrong, device(1));
  set("none.beyond", cudaMemAccessFlagsProtNone, device(1));
  set("read.beyond", cudaMemAccessFlagsProtRead, device(1));
  set("invalid", both, nowhere);
  set("flag.invalid", wrong, nowhere);
  set("host", both, host());
  set("flag.host", wrong, host());
  set("count0", both, device(0), 0);
}

static cudaGraph_t graph() {
  cudaGraph_t made;
  MUST(cudaGraphCreate(&made, 0));
  return made;
}

template <class Change>
static void add_alloc(const char* key, Change change) {
  static cudaGraph_t into = graph();
  cudaMemAccessDesc description{};
  description.flags = cudaMemAccessFlagsProtReadWrite;
  description.location = device(0);
  cudaMemAllocNodeParams params{};
  params.bytesize = 1024;
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = device(0);
  params.accessDescs = &description;
  params.accessDescCount = 1;
  change(params, description);
  cudaGraphNode_t node;
  answer(std::string("alloc.") + key, cudaGraphAddMemAllocNode(&node, into, nullptr, 0, &params));
}

static void allocations() {
  using P = cudaMemAllocNodeParams&;
  using D = cudaMemAccessDesc&;
  add_alloc("good", [](P, D) {});
  add_alloc("type.invalid", [](P p, D) { p.poolProps.allocType = cudaMemAllocationTypeInvalid; });
  add_alloc("type.max", [](P p, D) { p.poolProps.allocType = cudaMemAllocationTypeMax; });
  add_alloc("location.invalid",
            [](P p, D) { p.poolProps.location.type = cudaMemLocationTypeInvalid; });
  add_alloc("location.id", [](P p, D) { p.poolProps.location.id = 1; });
  add_alloc("location.minus", [](P p, D) { p.poolProps.location.id = -1; });
  add_alloc("location.host", [](P p, D) { p.poolProps.location = host(); });
  add_alloc("handles",
            [](P p, D) { p.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor; });
  add_alloc("handles.99",
            [](P p, D) { p.poolProps.handleTypes = static_cast<cudaMemAllocationHandleType>(99); });
  add_alloc("bytes0", [](P p, D) { p.bytesize = 0; });
  add_alloc("bytes.max", [](P p, D) { p.bytesize = ~size_t{0}; });
  add_alloc("bytes.1t", [](P p, D) { p.bytesize = size_t{1} << 40; });
  add_alloc("maxsize", [](P p, D) { p.poolProps.maxSize = 512; });
  add_alloc("usage", [](P p, D) { p.poolProps.usage = 1; });
  add_alloc("access.none", [](P, D d) { d.flags = cudaMemAccessFlagsProtNone; });
  add_alloc("access.flag", [](P, D d) { d.flags = static_cast<cudaMemAccessFlags>(77); });
  add_alloc("access.read", [](P, D d) { d.flags = cudaMemAccessFlagsProtRead; });
  add_alloc("access.device", [](P, D d) { d.location.id = 1; });
  add_alloc("access.minus", [](P, D d) { d.location.id = -1; });
  add_alloc("access.type", [](P, D d) { d.location.type = cudaMemLocationTypeInvalid; });
  add_alloc("access.host", [](P, D d) { d.location = host(); });
  add_alloc("access.flag.device", [](P, D d) {
    d.flags = static_cast<cudaMemAccessFlags>(77);
    d.location.id = 1;
  });
  add_alloc("access.count0", [](P p, D) { p.accessDescCount = 0; });
}

static cudaGraphNode_t kernel_node() {
  cudaKernelNodeParams params{};
  params.func = (void*)nop_kernel;
  params.gridDim = params.blockDim = dim3(1);
  cudaGraphNode_t node;
  MUST(cudaGraphAddKernelNode(&node, graph(), nullptr, 0, &params));
  return node;
}

template <class Fill>
static void set_attribute(const char* key, cudaLaunchAttributeID id, Fill fill) {
  static cudaGraphNode_t node = kernel_node();
  static char* memory = nullptr;
  if (!memory) MUST(cudaMalloc(&memory, page));
  cudaLaunchAttributeValue value;
  memset(&value, 0, sizeof value);
  if (id == cudaLaunchAttributeAccessPolicyWindow) {
    value.accessPolicyWindow.base_ptr = memory;
    value.accessPolicyWindow.num_bytes = page;
    value.accessPolicyWindow.hitRatio = 0.6f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  }
  fill(value);
  answer(std::string("attribute.") + key, cudaGraphKernelNodeSetAttribute(node, id, &value));
  memset(&value, 0, sizeof value);
  answer(std::string("attribute.") + key + ".get",
         cudaGraphKernelNodeGetAttribute(node, id, &value));
  if (id == cudaLaunchAttributePriority)
    say(std::string("attribute.") + key + ".is", value.priority);
  if (id == cudaLaunchAttributeCooperative)
    say(std::string("attribute.") + key + ".is", value.cooperative);
}

static void attributes() {
  using V = cudaLaunchAttributeValue&;
  int window = 0;
  MUST(cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  const auto policy = cudaLaunchAttributeAccessPolicyWindow;
  const auto cooperative = cudaLaunchAttributeCooperative;
  const auto priority = cudaLaunchAttributePriority;
  set_attribute("window", policy, [](V) {});
  set_attribute("window.largest", policy,
                [&](V v) { v.accessPolicyWindow.num_bytes = size_t(window); });
  set_attribute("window.larger", policy,
                [&](V v) { v.accessPolicyWindow.num_bytes = size_t(window) + 1; });
  set_attribute("window.ratio.1.1", policy, [](V v) { v.accessPolicyWindow.hitRatio = 1.1f; });
  set_attribute("window.ratio.minus", policy, [](V v) { v.accessPolicyWindow.hitRatio = -0.6f; });
  set_attribute("window.miss.persisting", policy,
                [](V v) { v.accessPolicyWindow.missProp = cudaAccessPropertyPersisting; });
  set_attribute("window.hit.9", policy,
                [](V v) { v.accessPolicyWindow.hitProp = static_cast<cudaAccessProperty>(9); });
  set_attribute("99", static_cast<cudaLaunchAttributeID>(99), [](V) {});
  set_attribute("minus", static_cast<cudaLaunchAttributeID>(-1), [](V) {});
  set_attribute("cooperative", cooperative, [](V v) { v.cooperative = 1; });
  set_attribute("cooperative.minus", cooperative, [](V v) { v.cooperative = -1; });
  set_attribute("priority", priority, [](V v) { v.priority = -2; });
  set_attribute("priority.99", priority, [](V v) { v.priority = 99; });
  set_attribute("priority.minus99", priority, [](V v) { v.priority = -99; });
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  if (section == "ranges") ranges();
  if (section == "refusals") refusals();
  if (section == "access") access();
  if (section == "allocations") allocations();
  if (section == "attributes") attributes();
  say("end", section);
}

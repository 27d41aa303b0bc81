// CUDA arrays, and texture and surface objects as the host knows them: shapes, copies, wrong
// arguments. One section a process, named on the command line.
#include <cstring>

#include "probe.h"

static std::string text(const cudaChannelFormatDesc& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "," +
         std::to_string(d.w) + ":" + std::to_string(d.f);
}

// The answer, and of what was made its description.
static void make(const std::string& name, const cudaChannelFormatDesc& desc, cudaExtent extent,
                 unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t e = cudaMalloc3DArray(&array, &desc, extent, flags);
  cudaGetLastError();
  std::string answer = cudaGetErrorName(e);
  if (e == cudaSuccess) {
    cudaChannelFormatDesc d{};
    cudaExtent x{};
    unsigned f = 0;
    MUST(cudaArrayGetInfo(&d, &x, &f, array));
    answer += " " + text(d) + " " + std::to_string(x.width) + "x" + std::to_string(x.height) + "x" +
              std::to_string(x.depth) + " flags " + std::to_string(f);
    MUST(cudaFreeArray(array));
  }
  say("make." + name, answer);
}

static cudaChannelFormatDesc floats() { return cudaCreateChannelDesc<float>(); }

static void making() {
  const cudaChannelFormatDesc f = floats();
  for (int shape = 0; shape < 8; ++shape) {
    const cudaExtent x =
        make_cudaExtent(shape & 1 ? 12 : 0, shape & 2 ? 12 : 0, shape & 4 ? 12 : 0);
    const std::string name = std::to_string(x.width) + "x" + std::to_string(x.height) + "x" +
                             std::to_string(x.depth);
    for (unsigned flags = 0; flags < 16; ++flags)
      make(name + ".flags" + std::to_string(flags), f, x, flags);
  }
  for (unsigned flags : {16u, 32u, 256u, 0x80000000u})
    make("flags" + std::to_string(flags), f, make_cudaExtent(8, 8, 0), flags);
  make("cube.7", f, make_cudaExtent(8, 8, 7), cudaArrayCubemap);
  make("cube.6", f, make_cudaExtent(8, 8, 6), cudaArrayCubemap);
  make("cube.wide", f, make_cudaExtent(8, 4, 6), cudaArrayCubemap);
  make("cube.layered.6", f, make_cudaExtent(8, 8, 6), cudaArrayCubemap | cudaArrayLayered);
  make("cube.layered.13", f, make_cudaExtent(8, 8, 13), cudaArrayCubemap | cudaArrayLayered);
  make("width.1d.most", f, make_cudaExtent(131072, 0, 0), 0);
  make("width.1d.more", f, make_cudaExtent(131073, 0, 0), 0);
  make("width.2d.most", f, make_cudaExtent(131072, 1, 0), 0);
  make("width.2d.more", f, make_cudaExtent(131073, 1, 0), 0);
  make("height.2d.most", f, make_cudaExtent(1, 65536, 0), 0);
  make("height.2d.more", f, make_cudaExtent(1, 65537, 0), 0);
  make("3d.most", f, make_cudaExtent(16384, 1, 1), 0);
  make("3d.more", f, make_cudaExtent(16385, 1, 1), 0);
  make("3d.deep", f, make_cudaExtent(1, 1, 16384), 0);
  make("3d.deeper", f, make_cudaExtent(1, 1, 16385), 0);
  make("layers.1d.most", f, make_cudaExtent(32768, 0, 2), cudaArrayLayered);
  make("layers.1d.wider", f, make_cudaExtent(32769, 0, 2), cudaArrayLayered);
  make("layers.1d.more", f, make_cudaExtent(8, 0, 2049), cudaArrayLayered);
  make("layers.2d.more", f, make_cudaExtent(8, 8, 2049), cudaArrayLayered);
  make("gather.most", f, make_cudaExtent(32768, 1, 0), cudaArrayTextureGather);
  make("gather.more", f, make_cudaExtent(32769, 1, 0), cudaArrayTextureGather);
  make("surface.1d.most", f, make_cudaExtent(32768, 0, 0), cudaArraySurfaceLoadStore);
  make("surface.1d.more", f, make_cudaExtent(32769, 0, 0), cudaArraySurfaceLoadStore);
  make("surface.2d.more", f, make_cudaExtent(131073, 1, 0), cudaArraySurfaceLoadStore);
  for (int bits : {0, 1, 4, 8, 16, 24, 32, 64}) {
    for (int kind = 0; kind < 5; ++kind) {
      make("channels." + std::to_string(bits) + ".kind" + std::to_string(kind),
           cudaCreateChannelDesc(bits, 0, 0, 0, static_cast<cudaChannelFormatKind>(kind)),
           make_cudaExtent(8, 8, 0), 0);
    }
  }
  const auto mixed = [&](const char* name, int x, int y, int z, int w) {
    make(std::string("channels.") + name,
         cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKindUnsigned), make_cudaExtent(8, 8, 0),
         0);
  };
  mixed("2", 8, 8, 0, 0);
  mixed("3", 8, 8, 8, 0);
  mixed("4", 8, 8, 8, 8);
  mixed("gap", 8, 0, 8, 0);
  mixed("second", 0, 8, 0, 0);
  mixed("mixed", 8, 16, 0, 0);
  mixed("3.wide", 32, 32, 32, 0);
  mixed("4.wide", 32, 32, 32, 32);
  cudaArray_t array = nullptr;
  say("make.null.array", cudaMallocArray(nullptr, &f, 8, 8));
  say("make.null.desc", cudaMallocArray(&array, nullptr, 8, 8));
  say("make.plain.layered", cudaMallocArray(&array, &f, 8, 8, cudaArrayLayered));
  say("make.plain.cube", cudaMallocArray(&array, &f, 8, 8, cudaArrayCubemap));
  say("make.plain.nothing", cudaMallocArray(&array, &f, 0, 0));
  say("make.plain.nowidth", cudaMallocArray(&array, &f, 0, 8));
  say("make.last.error", cudaGetLastError());
  say("free.null", cudaFreeArray(nullptr));
  MUST(cudaMallocArray(&array, &f, 8, 8));
  say("info.nothing", cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
  cudaChannelFormatDesc d;
  say("channel.desc", cudaGetChannelDesc(&d, array));
  say("channel.desc.is", text(d));
  size_t most = 0;
  say("linear.most.answer", cudaDeviceGetTexture1DLinearMaxWidth(&most, &f, 0));
  say("linear.most.float", static_cast<long long>(most));
  const cudaChannelFormatDesc f4 = cudaCreateChannelDesc<float4>();
  cudaDeviceGetTexture1DLinearMaxWidth(&most, &f4, 0);
  say("linear.most.float4", static_cast<long long>(most));
}

static unsigned char pattern(size_t i) { return static_cast<unsigned char>(i * 13 + i / 64 + 5); }

static std::string bytes_of(const std::vector<unsigned char>& b) {
  unsigned long long hash = 1469598103934665603ull;
  for (unsigned char c : b) hash = (hash ^ c) * 1099511628211ull;
  char out[24];
  std::snprintf(out, sizeof out, "%016llx", hash);
  return out;
}

static void copies() {
  const cudaChannelFormatDesc f = floats();
  cudaArray_t a, b, line, box, chars;
  MUST(cudaMallocArray(&a, &f, 16, 8));
  MUST(cudaMallocArray(&b, &f, 16, 8));
  MUST(cudaMallocArray(&line, &f, 64));
  MUST(cudaMalloc3DArray(&box, &f, make_cudaExtent(8, 6, 4)));
  const cudaChannelFormatDesc c = cudaCreateChannelDesc<unsigned char>();
  MUST(cudaMallocArray(&chars, &c, 64, 8));
  std::vector<unsigned char> from(4096), to(4096);
  for (size_t i = 0; i < from.size(); ++i) from[i] = pattern(i);
  char* d;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMemcpy(d, from.data(), 4096, cudaMemcpyHostToDevice));
  const auto H = cudaMemcpyHostToDevice;
  const auto D = cudaMemcpyDeviceToHost;
  const auto DD = cudaMemcpyDeviceToDevice;
  const auto look = [&](const std::string& name, cudaError_t e, cudaArray_t array, size_t width,
                        size_t height) {
    cudaGetLastError();
    std::vector<unsigned char> now(width * height);
    MUST(cudaMemcpy2DFromArray(now.data(), width, array, 0, 0, width, height, D));
    say("copy." + name, std::string(cudaGetErrorName(e)) + " " + bytes_of(now));
  };
  look("to", cudaMemcpy2DToArray(a, 0, 0, from.data(), 64, 64, 8, H), a, 64, 8);
  look("to.part", cudaMemcpy2DToArray(a, 8, 2, from.data(), 100, 20, 3, H), a, 64, 8);
  look("to.odd", cudaMemcpy2DToArray(a, 3, 1, from.data(), 100, 5, 3, H), a, 64, 8);
  look("to.device", cudaMemcpy2DToArray(b, 0, 0, d, 64, 64, 8, DD), b, 64, 8);
  look("to.default", cudaMemcpy2DToArray(b, 4, 1, from.data(), 64, 8, 2, cudaMemcpyDefault), b, 64, 8);
  look("to.default.device", cudaMemcpy2DToArray(b, 4, 1, d + 64, 64, 8, 2, cudaMemcpyDefault), b, 64, 8);
  look("to.device.as.host", cudaMemcpy2DToArray(b, 0, 0, d + 9, 64, 64, 8, H), b, 64, 8);
  look("to.host.as.device", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 64, 8, DD), b, 64, 8);
  look("to.wrong.way", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 64, 8, D), b, 64, 8);
  look("to.host.host", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 64, 8, cudaMemcpyHostToHost), b, 64, 8);
  look("to.kind9", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 64, 8, (cudaMemcpyKind)9), b, 64, 8);
  look("to.too.wide", cudaMemcpy2DToArray(b, 0, 0, from.data(), 68, 68, 8, H), b, 64, 8);
  look("to.too.high", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 64, 9, H), b, 64, 8);
  look("to.too.far", cudaMemcpy2DToArray(b, 4, 0, from.data(), 64, 64, 8, H), b, 64, 8);
  look("to.far.out", cudaMemcpy2DToArray(b, 400, 0, from.data(), 64, 4, 1, H), b, 64, 8);
  look("to.pitch", cudaMemcpy2DToArray(b, 0, 0, from.data(), 32, 64, 8, H), b, 64, 8);
  look("to.pitch.and.kind", cudaMemcpy2DToArray(b, 0, 0, from.data(), 32, 64, 8, (cudaMemcpyKind)9), b, 64, 8);
  look("to.nothing", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 0, 8, H), b, 64, 8);
  look("to.nothing.kind9", cudaMemcpy2DToArray(b, 0, 0, from.data(), 64, 0, 8, (cudaMemcpyKind)9), b, 64, 8);
  look("to.null", cudaMemcpy2DToArray(b, 0, 0, nullptr, 64, 64, 8, H), b, 64, 8);
  look("to.null.array", cudaMemcpy2DToArray(nullptr, 0, 0, from.data(), 64, 64, 8, H), b, 64, 8);
  look("to.line", cudaMemcpy2DToArray(line, 16, 0, from.data(), 64, 64, 1, H), line, 256, 1);
  look("to.line.two", cudaMemcpy2DToArray(line, 0, 0, from.data(), 64, 64, 2, H), line, 256, 1);
  look("to.box", cudaMemcpy2DToArray(box, 0, 0, from.data(), 32, 32, 6, H), box, 32, 6);
  look("between", cudaMemcpy2DArrayToArray(b, 16, 2, a, 4, 1, 20, 3), b, 64, 8);
  look("between.kind", cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 64, 8, H), b, 64, 8);
  look("between.far", cudaMemcpy2DArrayToArray(b, 16, 2, a, 48, 1, 20, 3), b, 64, 8);
  look("between.formats", cudaMemcpy2DArrayToArray(chars, 0, 0, a, 0, 0, 64, 8), chars, 64, 8);
  look("flat", cudaMemcpyToArray(b, 0, 0, from.data() + 3, 64 * 8, H), b, 64, 8);
  look("flat.part", cudaMemcpyToArray(b, 20, 1, from.data() + 7, 200, H), b, 64, 8);
  look("flat.too.much", cudaMemcpyToArray(b, 0, 1, from.data(), 64 * 8, H), b, 64, 8);
  look("flat.nothing", cudaMemcpyToArray(b, 0, 0, from.data(), 0, H), b, 64, 8);
  look("flat.between", cudaMemcpyArrayToArray(b, 0, 0, a, 8, 1, 100), b, 64, 8);
  const auto back = [&](const std::string& name, cudaError_t e) {
    cudaGetLastError();
    say("back." + name, std::string(cudaGetErrorName(e)) + " " + bytes_of(to));
    std::fill(to.begin(), to.end(), 0);
  };
  back("all", cudaMemcpy2DFromArray(to.data(), 80, a, 0, 0, 64, 8, D));
  back("part", cudaMemcpy2DFromArray(to.data(), 80, a, 12, 1, 20, 4, D));
  back("flat", cudaMemcpyFromArray(to.data(), a, 8, 1, 300, D));
  back("wrong.way", cudaMemcpy2DFromArray(to.data(), 80, a, 0, 0, 64, 8, H));
  back("too.wide", cudaMemcpy2DFromArray(to.data(), 80, a, 4, 0, 64, 8, D));
  back("pitch", cudaMemcpy2DFromArray(to.data(), 8, a, 0, 0, 64, 8, D));
  back("null", cudaMemcpy2DFromArray(nullptr, 80, a, 0, 0, 64, 8, D));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  back("async", cudaMemcpy2DFromArrayAsync(to.data(), 64, a, 0, 0, 64, 8, D, s));
  look("async", cudaMemcpy2DToArrayAsync(b, 0, 0, from.data() + 5, 64, 64, 8, H, s), b, 64, 8);
  look("flat.async", cudaMemcpyToArrayAsync(b, 0, 0, from.data() + 6, 128, H, s), b, 64, 8);
  back("flat.async", cudaMemcpyFromArrayAsync(to.data(), b, 0, 0, 128, D, s));
}

static void boxes() {
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float2>();
  const cudaChannelFormatDesc g = cudaCreateChannelDesc<float>();
  cudaArray_t box, other, sheet, layers;
  MUST(cudaMalloc3DArray(&box, &f, make_cudaExtent(8, 6, 4)));
  MUST(cudaMalloc3DArray(&other, &g, make_cudaExtent(16, 6, 4)));
  MUST(cudaMallocArray(&sheet, &f, 8, 6));
  MUST(cudaMalloc3DArray(&layers, &f, make_cudaExtent(8, 6, 4), cudaArrayLayered));
  std::vector<unsigned char> from(8192), to(8192);
  for (size_t i = 0; i < from.size(); ++i) from[i] = pattern(i);
  cudaMemcpy3DParms clear{};
  clear.srcPtr = make_cudaPitchedPtr(from.data(), 64, 8, 6);
  clear.dstArray = box;
  clear.extent = make_cudaExtent(8, 6, 4);
  clear.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&clear));
  clear.dstArray = layers;
  MUST(cudaMemcpy3D(&clear));
  const auto show = [&](const std::string& name, const cudaMemcpy3DParms& p) {
    std::fill(to.begin(), to.end(), 0);
    const cudaError_t e = cudaMemcpy3D(&p);
    cudaGetLastError();
    cudaMemcpy3DParms q{};
    std::vector<unsigned char> now(64 * 6 * 4);
    q.srcArray = p.dstArray != nullptr ? p.dstArray : box;
    if (q.srcArray == box || q.srcArray == layers) {
      q.dstPtr = make_cudaPitchedPtr(now.data(), 64, 8, 6);
      q.extent = make_cudaExtent(8, 6, 4);
      q.kind = cudaMemcpyDeviceToHost;
      MUST(cudaMemcpy3D(&q));
    }
    say("box." + name, std::string(cudaGetErrorName(e)) + " array " + bytes_of(now) + " host " +
                           bytes_of(to));
  };
  cudaMemcpy3DParms in{};
  in.srcPtr = make_cudaPitchedPtr(from.data(), 64, 8, 6);
  in.dstArray = box;
  in.extent = make_cudaExtent(8, 6, 4);
  in.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3DParms p = in;
  p.extent = make_cudaExtent(3, 2, 2);
  p.dstPos = make_cudaPos(2, 1, 1);
  p.srcPos = make_cudaPos(8, 1, 0);
  show("in.part", p);
  p.srcPos = make_cudaPos(5, 1, 1);
  show("in.part.odd", p);
  p.dstPos = make_cudaPos(6, 1, 1);
  show("in.too.wide", p);
  p.dstPos = make_cudaPos(2, 5, 1);
  show("in.too.high", p);
  p.dstPos = make_cudaPos(2, 1, 3);
  show("in.too.deep", p);
  p = in;
  p.srcPtr.pitch = 63;
  show("in.pitch", p);
  p.kind = static_cast<cudaMemcpyKind>(9);
  show("in.pitch.kind9", p);
  p = in;
  p.srcPtr.ysize = 5;
  show("in.rows", p);
  p = in;
  p.kind = cudaMemcpyDeviceToHost;
  show("in.wrong.way", p);
  p.kind = static_cast<cudaMemcpyKind>(9);
  show("in.kind9", p);
  p.kind = cudaMemcpyDefault;
  show("in.default", p);
  p = in;
  p.extent.depth = 0;
  show("in.nothing", p);
  p = in;
  p.srcPtr.ptr = nullptr;
  show("in.null", p);
  p = in;
  p.dstPtr = make_cudaPitchedPtr(to.data(), 64, 8, 6);
  show("in.two.ends", p);
  p = in;
  p.dstArray = layers;
  p.dstPos = make_cudaPos(0, 0, 1);
  p.extent = make_cudaExtent(8, 6, 3);
  show("in.layers", p);
  p = in;
  p.dstArray = sheet;
  p.extent = make_cudaExtent(8, 6, 1);
  show("in.sheet", p);
  p.extent = make_cudaExtent(8, 6, 2);
  show("in.sheet.deep", p);
  cudaMemcpy3DParms out{};
  out.srcArray = box;
  out.dstPtr = make_cudaPitchedPtr(to.data(), 80, 10, 7);
  out.extent = make_cudaExtent(8, 6, 4);
  out.kind = cudaMemcpyDeviceToHost;
  show("out", out);
  p = out;
  p.srcPos = make_cudaPos(1, 2, 3);
  p.dstPos = make_cudaPos(16, 1, 0);
  p.extent = make_cudaExtent(4, 3, 1);
  show("out.part", p);
  p.extent = make_cudaExtent(8, 3, 1);
  show("out.too.wide", p);
  cudaMemcpy3DParms between{};
  between.srcArray = box;
  between.dstArray = layers;
  between.extent = make_cudaExtent(4, 3, 2);
  between.srcPos = make_cudaPos(2, 1, 1);
  between.kind = cudaMemcpyDeviceToDevice;
  show("between", between);
  p = between;
  p.kind = cudaMemcpyHostToDevice;
  show("between.kind", p);
  p = between;
  p.dstArray = other;
  show("between.formats", p);
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  say("box.async", cudaMemcpy3DAsync(&in, s));
  MUST(cudaStreamSynchronize(s));
  // As nodes of a graph.
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  MUST(cudaGraphCreate(&graph, 0));
  std::fill(to.begin(), to.end(), 0);
  say("node.add", cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &out));
  cudaMemcpy3DParms got{};
  say("node.get", cudaGraphMemcpyNodeGetParams(node, &got));
  say("node.get.array", got.srcArray == box);
  say("node.get.extent", static_cast<long long>(got.extent.width));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphLaunch(exec, s));
  MUST(cudaStreamSynchronize(s));
  say("node.copied", bytes_of(to));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  say("capture.2d", cudaMemcpy2DToArrayAsync(sheet, 0, 0, from.data(), 64, 64, 6,
                                             cudaMemcpyHostToDevice, s));
  say("capture.3d", cudaMemcpy3DAsync(&in, s));
  MUST(cudaStreamEndCapture(s, &graph));
  size_t count = 0;
  cudaGraphNode_t nodes[4];
  MUST(cudaGraphGetNodes(graph, nullptr, &count));
  say("capture.nodes", static_cast<long long>(count));
  MUST(cudaGraphGetNodes(graph, nodes, &count));
  for (size_t i = 0; i < count; ++i) {
    MUST(cudaGraphMemcpyNodeGetParams(nodes[i], &got));
    say("capture.node" + std::to_string(i),
        std::string(got.dstArray != nullptr ? "array " : "memory ") +
            std::to_string(got.extent.width) + "x" + std::to_string(got.extent.height) + "x" +
            std::to_string(got.extent.depth) + " pitch " + std::to_string(got.srcPtr.pitch) +
            " kind " + std::to_string(got.kind));
  }
}

static void waits() {
  const cudaChannelFormatDesc f = floats();
  cudaArray_t a;
  MUST(cudaMallocArray(&a, &f, 16, 8));
  static unsigned char page[512];
  unsigned char* pinned;
  MUST(cudaMallocHost(&pinned, 512));
  cudaStream_t s;
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const auto held = [&](const char* name, auto call) {
    Gate gate;
    gate.close(s);
    say(std::string("held.") + name, returns_within([&] { call(); }, [&] { gate.open(); }));
    MUST(cudaDeviceSynchronize());
  };
  const auto H = cudaMemcpyHostToDevice;
  const auto D = cudaMemcpyDeviceToHost;
  held("to.async.pageable", [&] { cudaMemcpy2DToArrayAsync(a, 0, 0, page, 64, 64, 8, H, s); });
  held("to.async.pinned", [&] { cudaMemcpy2DToArrayAsync(a, 0, 0, pinned, 64, 64, 8, H, s); });
  held("from.async.pageable", [&] { cudaMemcpy2DFromArrayAsync(page, 64, a, 0, 0, 64, 8, D, s); });
  held("from.async.pinned", [&] { cudaMemcpy2DFromArrayAsync(pinned, 64, a, 0, 0, 64, 8, D, s); });
  held("to", [&] { cudaMemcpy2DToArray(a, 0, 0, page, 64, 64, 8, H); });
  cudaArray_t spare;
  MUST(cudaMallocArray(&spare, &f, 16, 8));
  held("free", [&] { cudaFreeArray(spare); });
  held("malloc", [&] { cudaMallocArray(&spare, &f, 16, 8); });
}

static cudaTextureDesc how() {
  cudaTextureDesc t{};
  return t;
}

static void objects() {
  const cudaChannelFormatDesc f = floats();
  cudaArray_t array, bytes, plain3;
  MUST(cudaMallocArray(&array, &f, 16, 8, cudaArraySurfaceLoadStore));
  const cudaChannelFormatDesc u4 = cudaCreateChannelDesc<uchar4>();
  MUST(cudaMallocArray(&bytes, &u4, 16, 8));
  MUST(cudaMalloc3DArray(&plain3, &f, make_cudaExtent(4, 4, 4)));
  char* d;
  MUST(cudaMalloc(&d, 1 << 20));
  static float host[64];
  cudaResourceDesc of_array{}, of_bytes{}, line{}, pitch{};
  of_array.resType = of_bytes.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  of_bytes.res.array.array = bytes;
  line.resType = cudaResourceTypeLinear;
  line.res.linear = {d, f, 4096};
  pitch.resType = cudaResourceTypePitch2D;
  pitch.res.pitch2D = {d, f, 64, 16, 512};
  const auto create = [&](const std::string& name, const cudaResourceDesc& r,
                          const cudaTextureDesc& t, const cudaResourceViewDesc* v = nullptr) {
    cudaTextureObject_t object = 0;
    const cudaError_t e = cudaCreateTextureObject(&object, &r, &t, v);
    cudaGetLastError();
    say("texture." + name, e);
    if (e == cudaSuccess) MUST(cudaDestroyTextureObject(object));
  };
  cudaTextureObject_t object = 0;
  cudaTextureDesc t = how();
  say("texture.null.object", cudaCreateTextureObject(nullptr, &of_array, &t, nullptr));
  say("texture.null.resource", cudaCreateTextureObject(&object, nullptr, &t, nullptr));
  say("texture.null.how", cudaCreateTextureObject(&object, &of_array, nullptr, nullptr));
  cudaGetLastError();
  create("array", of_array, t);
  create("line", line, t);
  create("pitch", pitch, t);
  cudaResourceDesc r = of_array;
  r.resType = static_cast<cudaResourceType>(9);
  create("resource9", r, t);
  r = of_array;
  r.flags = 1;
  create("resource.flags", r, t);
  r = of_array;
  r.res.array.array = nullptr;
  create("array.null", r, t);
  for (int mode : {0, 1, 2, 3, 4, -1}) {
    for (bool fractions : {false, true}) {
      t = how();
      t.normalizedCoords = fractions;
      for (auto& m : t.addressMode) m = static_cast<cudaTextureAddressMode>(mode);
      const std::string n = std::to_string(mode) + (fractions ? ".fraction" : ".texel");
      create("address" + n + ".array", of_array, t);
      create("address" + n + ".line", line, t);
      create("address" + n + ".pitch", pitch, t);
    }
  }
  for (int filter : {0, 1, 2}) {
    for (int read : {0, 1, 2}) {
      t = how();
      t.filterMode = static_cast<cudaTextureFilterMode>(filter);
      t.readMode = static_cast<cudaTextureReadMode>(read);
      const std::string n = std::to_string(filter) + ".read" + std::to_string(read);
      create("filter" + n + ".float", of_array, t);
      create("filter" + n + ".uchar4", of_bytes, t);
      create("filter" + n + ".line", line, t);
      create("filter" + n + ".pitch", pitch, t);
      cudaArray_t wide;
      const cudaChannelFormatDesc i = cudaCreateChannelDesc<int>();
      MUST(cudaMallocArray(&wide, &i, 8, 8));
      r = of_array;
      r.res.array.array = wide;
      create("filter" + n + ".int", r, t);
      MUST(cudaFreeArray(wide));
    }
  }
  t = how();
  t.sRGB = 1;
  create("srgb.float", of_array, t);
  create("srgb.uchar4", of_bytes, t);
  t.readMode = cudaReadModeNormalizedFloat;
  create("srgb.uchar4.fraction", of_bytes, t);
  t = how();
  t.maxAnisotropy = 99;
  create("anisotropy", of_array, t);
  t = how();
  t.mipmapFilterMode = static_cast<cudaTextureFilterMode>(2);
  create("mipmap.filter2", of_array, t);
  t = how();
  const auto with_line = [&](const char* name, auto change) {
    cudaResourceDesc x = line;
    change(x.res.linear);
    create(std::string("line.") + name, x, t);
  };
  with_line("null", [&](auto& l) { l.devPtr = nullptr; });
  with_line("host", [&](auto& l) { l.devPtr = host; });
  with_line("empty", [&](auto& l) { l.sizeInBytes = 0; });
  with_line("short", [&](auto& l) { l.sizeInBytes = 3; });
  with_line("uneven", [&](auto& l) { l.sizeInBytes = 4095; });
  with_line("beyond", [&](auto& l) { l.sizeInBytes = 64 << 20; });
  with_line("most", [&](auto& l) { l.sizeInBytes = size_t{4} << 28; });
  with_line("more", [&](auto& l) { l.sizeInBytes = (size_t{4} << 28) + 4; });
  with_line("at4", [&](auto& l) { l.devPtr = d + 4; });
  with_line("at16", [&](auto& l) { l.devPtr = d + 16; });
  with_line("at256", [&](auto& l) { l.devPtr = d + 256; });
  with_line("at512", [&](auto& l) { l.devPtr = d + 512; });
  with_line("channels3", [&](auto& l) { l.desc.y = l.desc.z = 32; });
  with_line("channels0", [&](auto& l) { l.desc.x = 0; });
  with_line("kind3", [&](auto& l) { l.desc.f = cudaChannelFormatKindNone; });
  const auto with_pitch = [&](const char* name, auto change) {
    cudaResourceDesc x = pitch;
    change(x.res.pitch2D);
    create(std::string("pitch.") + name, x, t);
  };
  with_pitch("null", [&](auto& p) { p.devPtr = nullptr; });
  with_pitch("at16", [&](auto& p) { p.devPtr = d + 16; });
  with_pitch("at512", [&](auto& p) { p.devPtr = d + 512; });
  with_pitch("width0", [&](auto& p) { p.width = 0; });
  with_pitch("height0", [&](auto& p) { p.height = 0; });
  with_pitch("narrow", [&](auto& p) { p.pitchInBytes = 128; });
  with_pitch("pitch32", [&](auto& p) { p.pitchInBytes = 288; });
  with_pitch("pitch16", [&](auto& p) { p.pitchInBytes = 272; });
  with_pitch("pitch0", [&](auto& p) { p.pitchInBytes = 0; });
  with_pitch("wide", [&](auto& p) { p.width = 131073; p.pitchInBytes = 131073 * 4 + 28; });
  with_pitch("high", [&](auto& p) { p.height = 65001; });
  with_pitch("beyond", [&](auto& p) { p.height = 60000; });
  // Descriptions that were asked for again.
  t = how();
  t.addressMode[0] = cudaAddressModeBorder;
  t.filterMode = cudaFilterModeLinear;
  t.borderColor[1] = 2.5f;
  t.normalizedCoords = 7;
  t.maxAnisotropy = 4;
  t.mipmapLevelBias = 1.5f;
  MUST(cudaCreateTextureObject(&object, &of_array, &t, nullptr));
  cudaTextureDesc got{};
  say("get.texture", cudaGetTextureObjectTextureDesc(&got, object));
  say("get.texture.is",
      std::to_string(got.addressMode[0]) + std::to_string(got.addressMode[1]) + " " +
          std::to_string(got.filterMode) + " " + std::to_string(got.borderColor[1]) + " " +
          std::to_string(got.normalizedCoords) + " " + std::to_string(got.maxAnisotropy) + " " +
          std::to_string(got.mipmapLevelBias));
  cudaResourceDesc which{};
  say("get.resource", cudaGetTextureObjectResourceDesc(&which, object));
  say("get.resource.is", which.resType == cudaResourceTypeArray && which.res.array.array == array);
  cudaResourceViewDesc view{};
  say("get.view", cudaGetTextureObjectResourceViewDesc(&view, object));
  say("get.texture.null", cudaGetTextureObjectTextureDesc(nullptr, object));
  MUST(cudaDestroyTextureObject(object));
  say("get.texture.destroyed", cudaGetTextureObjectTextureDesc(&got, object));
  say("destroy.twice", cudaDestroyTextureObject(object));
  say("destroy.0", cudaDestroyTextureObject(0));
  say("destroy.77", cudaDestroyTextureObject(77));
  cudaGetLastError();
  MUST(cudaCreateTextureObject(&object, &line, &t, nullptr) == cudaSuccess ? cudaSuccess
                                                                            : cudaSuccess);
  cudaGetLastError();
  cudaSurfaceObject_t surface = 0;
  say("surface", cudaCreateSurfaceObject(&surface, &of_array));
  say("surface.get", cudaGetSurfaceObjectResourceDesc(&which, surface));
  say("surface.get.is", which.res.array.array == array);
  say("surface.destroy", cudaDestroySurfaceObject(surface));
  say("surface.destroy.twice", cudaDestroySurfaceObject(surface));
  say("surface.destroy.0", cudaDestroySurfaceObject(0));
  say("surface.null", cudaCreateSurfaceObject(nullptr, &of_array));
  say("surface.null.resource", cudaCreateSurfaceObject(&surface, nullptr));
  say("surface.without.flag", cudaCreateSurfaceObject(&surface, &of_bytes));
  say("surface.line", cudaCreateSurfaceObject(&surface, &line));
  say("surface.last.error", cudaGetLastError());
}

__global__ void one(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 0.5f, 0.5f); }

// A number that is no texture.
static void wrong(const std::string& which) {
  const cudaChannelFormatDesc f = floats();
  cudaArray_t array;
  MUST(cudaMallocArray(&array, &f, 16, 8));
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc t{};
  cudaTextureObject_t object = 0;
  MUST(cudaCreateTextureObject(&object, &r, &t, nullptr));
  float* out;
  MUST(cudaMalloc(&out, 4));
  if (which == "zero") object = 0;
  if (which == "huge") object = 0x123456789abcull;
  if (which == "destroyed") MUST(cudaDestroyTextureObject(object));
  one<<<1, 1>>>(object, out);
  say("wrong." + which, cudaDeviceSynchronize());
  std::fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(nullptr));
  if (section == "making") making();
  if (section == "copies") copies();
  if (section == "boxes") boxes();
  if (section == "waits") waits();
  if (section == "objects") objects();
  if (section.rfind("wrong:", 0) == 0) wrong(section.substr(6));
  say(section + ".end", "ok");
}

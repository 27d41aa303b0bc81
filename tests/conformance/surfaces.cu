// Surfaces: reads and writes by byte, what happens outside, what a texture sees of it. One section
// a process, named on the command line: some end in a fault.
#include <cstdint>
#include <cstring>

#include "probe.h"

struct place {
  int x, y, z;
};

template <class T>
__device__ T read_one(int shape, cudaSurfaceObject_t s, place p, cudaSurfaceBoundaryMode mode) {
  // The mode is part of the instruction.
#define SB_READ(m)                                               \
  switch (shape) {                                               \
    case 1:                                                      \
      return surf1Dread<T>(s, p.x, m);                           \
    case 2:                                                      \
      return surf2Dread<T>(s, p.x, p.y, m);                      \
    case 3:                                                      \
      return surf3Dread<T>(s, p.x, p.y, p.z, m);                 \
    case 11:                                                     \
      return surf1DLayeredread<T>(s, p.x, p.z, m);               \
    case 12:                                                     \
      return surf2DLayeredread<T>(s, p.x, p.y, p.z, m);          \
    case 22:                                                     \
      return surfCubemapread<T>(s, p.x, p.y, p.z, m);            \
    default:                                                     \
      return surfCubemapLayeredread<T>(s, p.x, p.y, p.z, m);     \
  }
  if (mode == cudaBoundaryModeZero) {
    SB_READ(cudaBoundaryModeZero)
  }
  if (mode == cudaBoundaryModeClamp) {
    SB_READ(cudaBoundaryModeClamp)
  }
  SB_READ(cudaBoundaryModeTrap)
#undef SB_READ
}

template <class T>
__device__ void write_one(int shape, cudaSurfaceObject_t s, place p, T value,
                          cudaSurfaceBoundaryMode mode) {
#define SB_WRITE(m)                                              \
  switch (shape) {                                               \
    case 1:                                                      \
      return surf1Dwrite(value, s, p.x, m);                      \
    case 2:                                                      \
      return surf2Dwrite(value, s, p.x, p.y, m);                 \
    case 3:                                                      \
      return surf3Dwrite(value, s, p.x, p.y, p.z, m);            \
    case 11:                                                     \
      return surf1DLayeredwrite(value, s, p.x, p.z, m);          \
    case 12:                                                     \
      return surf2DLayeredwrite(value, s, p.x, p.y, p.z, m);     \
    case 22:                                                     \
      return surfCubemapwrite(value, s, p.x, p.y, p.z, m);       \
    default:                                                     \
      return surfCubemapLayeredwrite(value, s, p.x, p.y, p.z, m); \
  }
  if (mode == cudaBoundaryModeZero) {
    SB_WRITE(cudaBoundaryModeZero)
  }
  if (mode == cudaBoundaryModeClamp) {
    SB_WRITE(cudaBoundaryModeClamp)
  }
  SB_WRITE(cudaBoundaryModeTrap)
#undef SB_WRITE
}

template <class T>
__global__ void reads(int shape, cudaSurfaceObject_t s, const place* at, T* out, int count,
                      cudaSurfaceBoundaryMode mode) {
  const int i = threadIdx.x;
  if (i < count) out[i] = read_one<T>(shape, s, at[i], mode);
}
template <class T>
__global__ void writes(int shape, cudaSurfaceObject_t s, const place* at, T value, int count,
                       cudaSurfaceBoundaryMode mode) {
  for (int i = 0; i < count; ++i) write_one<T>(shape, s, at[i], value, mode);
}

struct surface {
  int shape;
  size_t width, height, depth;
  unsigned flags;
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t object = 0;
  size_t element = 0;

  template <class T>
  void make() {
    element = sizeof(T);
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    MUST(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth),
                           flags | cudaArraySurfaceLoadStore));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    MUST(cudaCreateSurfaceObject(&object, &resource));
    std::vector<unsigned char> bytes(size());
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(i * 7 + i / 16 + 1);
    copy(bytes, cudaMemcpyHostToDevice);
  }
  ~surface() {
    cudaDestroySurfaceObject(object);
    cudaFreeArray(array);
  }
  size_t rows() const { return height ? height : 1; }
  size_t slices() const { return depth ? depth : 1; }
  size_t size() const { return width * rows() * slices() * element; }
  void copy(std::vector<unsigned char>& bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms p{};
    const cudaPitchedPtr memory =
        make_cudaPitchedPtr(bytes.data(), width * element, width, rows());
    (kind == cudaMemcpyHostToDevice ? p.srcPtr : p.dstPtr) = memory;
    (kind == cudaMemcpyHostToDevice ? p.dstArray : p.srcArray) = array;
    p.extent = make_cudaExtent(width, rows(), slices());
    p.kind = kind;
    MUST(cudaMemcpy3D(&p));
  }
};

static const surface shapes[] = {{1, 16, 0, 0, 0},
                                 {2, 8, 6, 0, 0},
                                 {3, 8, 6, 4, 0},
                                 {11, 8, 0, 3, cudaArrayLayered},
                                 {12, 8, 6, 3, cudaArrayLayered},
                                 {22, 6, 6, 6, cudaArrayCubemap},
                                 {23, 6, 6, 12, cudaArrayCubemap | cudaArrayLayered}};
static const char* const modes[] = {"zero", "clamp", "trap"};

static std::vector<place> around(const surface& s, bool outside) {
  std::vector<place> all;
  const int w = static_cast<int>(s.width * s.element), h = static_cast<int>(s.rows()),
            d = static_cast<int>(s.slices()), e = static_cast<int>(s.element);
  for (int z : {0, d - 1}) {
    for (int y : {0, h - 1}) {
      for (int x : {0, e, w - e}) all.push_back({x, y, z});
    }
  }
  if (!outside) return all;
  for (int x : {-e, -100 * e, w, w + e, 1 << 20}) all.push_back({x, 0, 0});
  for (int y : {-1, -9, h, h + 3}) all.push_back({e, y, 0});
  for (int z : {-1, d, d + 5}) all.push_back({e, 0, z});
  return all;
}

template <class T>
static void probe(const char* type) {
  for (const surface& kind : shapes) {
    for (int mode = 0; mode < 3; ++mode) {
      surface s = kind;
      s.make<T>();
      const auto how = static_cast<cudaSurfaceBoundaryMode>(mode);
      const std::vector<place> at = around(s, mode != cudaBoundaryModeTrap);
      const int count = static_cast<int>(at.size());
      place* places;
      T* out;
      MUST(cudaMalloc(&places, count * sizeof(place)));
      MUST(cudaMalloc(&out, count * sizeof(T)));
      MUST(cudaMemcpy(places, at.data(), count * sizeof(place), cudaMemcpyHostToDevice));
      reads<T><<<1, 64>>>(s.shape, s.object, places, out, count, how);
      std::vector<T> got(count);
      MUST(cudaMemcpy(got.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
      const std::string name =
          std::to_string(s.shape) + "." + type + "." + modes[mode];
      std::string text;
      for (const T& v : got) {
        const auto* b = reinterpret_cast<const unsigned char*>(&v);
        for (size_t i = 0; i < sizeof(T); ++i) {
          char one[4];
          std::snprintf(one, sizeof one, "%02x", b[i]);
          text += one;
        }
        text += ' ';
      }
      say("read." + name, text);
      // Written one by one: which bytes change.
      T value;
      memset(&value, 0xee, sizeof value);
      std::vector<unsigned char> before(s.size()), after(s.size());
      s.copy(before, cudaMemcpyDeviceToHost);
      writes<T><<<1, 1>>>(s.shape, s.object, places, value, count, how);
      MUST(cudaDeviceSynchronize());
      s.copy(after, cudaMemcpyDeviceToHost);
      text.clear();
      for (size_t i = 0; i < after.size(); i += sizeof(T)) {
        if (memcmp(&before[i], &after[i], sizeof(T)) != 0) text += std::to_string(i) + " ";
      }
      say("write." + name, text);
      MUST(cudaFree(places));
      MUST(cudaFree(out));
    }
  }
}

// One access that traps.
static void fault(const std::string& which) {
  surface s = shapes[1];
  s.make<int>();
  place at{0, 0, 0};
  if (which == "left") at.x = -4;
  if (which == "right") at.x = 32;
  if (which == "below") at.y = 6;
  if (which == "odd") at.x = 2;
  place* places;
  int* out;
  MUST(cudaMalloc(&places, sizeof at));
  MUST(cudaMalloc(&out, sizeof(int)));
  MUST(cudaMemcpy(places, &at, sizeof at, cudaMemcpyHostToDevice));
  reads<int><<<1, 64>>>(2, which == "none" ? 0 : s.object, places, out, 1, cudaBoundaryModeTrap);
  say("fault." + which, cudaDeviceSynchronize());
  std::fflush(stdout);
  _exit(0);
}

__global__ void sum(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 0.5f, 0.5f); }

// A kernel writes a surface, the next reads it as a texture.
static void together() {
  surface s = shapes[1];
  s.make<float>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = s.array;
  cudaTextureDesc how{};
  cudaTextureObject_t object;
  MUST(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  const place at{0, 0, 0};
  place* places;
  float* out;
  MUST(cudaMalloc(&places, sizeof at));
  MUST(cudaMalloc(&out, sizeof(float)));
  MUST(cudaMemcpy(places, &at, sizeof at, cudaMemcpyHostToDevice));
  writes<float><<<1, 1>>>(2, s.object, places, 42.0f, 1, cudaBoundaryModeTrap);
  sum<<<1, 1>>>(object, out);
  float got = 0;
  MUST(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  say("together.texture.sees", static_cast<int>(got));
  MUST(cudaDestroyTextureObject(object));
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  MUST(cudaFree(nullptr));
  if (section == "bytes") {
    probe<unsigned char>("uchar");
    probe<short>("short");
    probe<int>("int");
    probe<float2>("float2");
    probe<uchar4>("uchar4");
    probe<float4>("float4");
    probe<ushort2>("ushort2");
  }
  if (section == "together") together();
  if (section.rfind("fault:", 0) == 0) fault(section.substr(6));
  say(section + ".end", "ok");
}

// What texture and surface instructions return, to the last bit: coordinates, address modes,
// filters, formats, shapes. One section a process, named on the command line.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "probe.h"

enum operation { plain, layered, gather, fetch, cube, cube_layered, lod, grad };

struct texture {
  int dimensions = 2;
  int width = 7, height = 5, depth = 1;
  unsigned flags = 0;  // of the array
  cudaResourceType resource = cudaResourceTypeArray;
  cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
  int bits = 32, components = 1;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureReadMode read = cudaReadModeElementType;
  bool normalized = false, srgb = false, seamless = false;
  operation what = plain;
  int component = 0;
};

template <class T>
__device__ T sample(const texture& t, cudaTextureObject_t object, float4 c) {
  const int layer = static_cast<int>(c.w);
  switch (t.what) {
    case plain:
      return t.dimensions == 1   ? tex1D<T>(object, c.x)
             : t.dimensions == 2 ? tex2D<T>(object, c.x, c.y)
                                 : tex3D<T>(object, c.x, c.y, c.z);
    case layered:
      return t.dimensions == 1 ? tex1DLayered<T>(object, c.x, layer)
                               : tex2DLayered<T>(object, c.x, c.y, layer);
    case gather:
      return t.component == 0   ? tex2Dgather<T>(object, c.x, c.y)
             : t.component == 1 ? tex2Dgather<T>(object, c.x, c.y, 1)
             : t.component == 2 ? tex2Dgather<T>(object, c.x, c.y, 2)
                                : tex2Dgather<T>(object, c.x, c.y, 3);
    case fetch:
      return tex1Dfetch<T>(object, static_cast<int>(c.x));
    case cube:
      return texCubemap<T>(object, c.x, c.y, c.z);
    case cube_layered:
      return texCubemapLayered<T>(object, c.x, c.y, c.z, layer);
    case lod:
      return t.dimensions == 1   ? tex1DLod<T>(object, c.x, c.w)
             : t.dimensions == 2 ? tex2DLod<T>(object, c.x, c.y, c.w)
                                 : tex3DLod<T>(object, c.x, c.y, c.z, c.w);
    case grad:
      return t.dimensions == 1 ? tex1DGrad<T>(object, c.x, c.w, c.w)
             : t.dimensions == 2
                 ? tex2DGrad<T>(object, c.x, c.y, make_float2(c.w, 0), make_float2(0, c.w))
                 : tex3DGrad<T>(object, c.x, c.y, c.z, make_float4(c.w, 0, 0, 0),
                                make_float4(0, c.w, 0, 0));
  }
  return T{};
}

template <class T>
__global__ void read(texture t, cudaTextureObject_t object, const float4* coordinates, T* out,
                     int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = sample<T>(t, object, coordinates[i]);
}

static uint64_t state;
static unsigned chance() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<unsigned>(state >> 32);
}
// Every float in between is as good as exact: 24 bits of chance.
static float between(float low, float high) {
  return low + (high - low) * static_cast<float>(chance() >> 8) * 0x1p-24f;
}

static std::vector<unsigned char> contents(const texture& t, int spread) {
  const int count = t.width * t.height * t.depth * t.components;
  std::vector<unsigned char> bytes(static_cast<size_t>(count) * t.bits / 8);
  for (int i = 0; i < count; ++i) {
    unsigned value = chance();
    if (t.kind == cudaChannelFormatKindFloat && t.bits == 32) {
      value = (value & 0x807fffffu) |
              static_cast<unsigned>(127 - spread + static_cast<int>(chance() % (2 * spread + 1)))
                  << 23;
    } else if (t.kind == cudaChannelFormatKindFloat) {
      value = (value & 0x83ffu) |
              static_cast<unsigned>(15 - spread + static_cast<int>(chance() % (2 * spread + 1)))
                  << 10;
    }
    memcpy(&bytes[static_cast<size_t>(i) * t.bits / 8], &value, t.bits / 8);
  }
  return bytes;
}

struct source {
  cudaResourceDesc resource{};
  cudaArray_t array = nullptr;
  void* memory = nullptr;
  ~source() {
    if (array != nullptr) cudaFreeArray(array);
    cudaFree(memory);
  }
};

static cudaChannelFormatDesc format(const texture& t) {
  const int b = t.bits, n = t.components;
  return cudaCreateChannelDesc(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 2 ? b : 0, t.kind);
}

static void fill(source& s, const texture& t, std::vector<unsigned char>& bytes) {
  const size_t row = static_cast<size_t>(t.width) * t.components * t.bits / 8;
  const cudaChannelFormatDesc desc = format(t);
  s.resource.resType = t.resource;
  if (t.resource == cudaResourceTypeArray) {
    const bool stacked = t.dimensions == 3 || (t.flags & (cudaArrayLayered | cudaArrayCubemap));
    MUST(cudaMalloc3DArray(
        &s.array, &desc,
        make_cudaExtent(t.width, t.dimensions == 1 ? 0 : t.height, stacked ? t.depth : 0),
        t.flags));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(bytes.data(), row, t.width, t.height);
    copy.dstArray = s.array;
    copy.extent = make_cudaExtent(t.width, t.height, t.depth);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    s.resource.res.array.array = s.array;
  } else if (t.resource == cudaResourceTypeLinear) {
    MUST(cudaMalloc(&s.memory, bytes.size()));
    MUST(cudaMemcpy(s.memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    s.resource.res.linear = {s.memory, desc, bytes.size()};
  } else {
    size_t pitch = 0;
    MUST(cudaMallocPitch(&s.memory, &pitch, row, t.height));
    MUST(cudaMemcpy2D(s.memory, pitch, bytes.data(), row, row, t.height, cudaMemcpyHostToDevice));
    s.resource.res.pitch2D = {s.memory, desc, static_cast<size_t>(t.width),
                              static_cast<size_t>(t.height), pitch};
  }
}

template <class T>
static std::vector<T> run(const texture& t, cudaTextureObject_t object,
                          const std::vector<float4>& coordinates) {
  const int count = static_cast<int>(coordinates.size());
  float4* in;
  T* out;
  MUST(cudaMalloc(&in, count * sizeof(float4)));
  MUST(cudaMalloc(&out, count * sizeof(T)));
  MUST(cudaMemcpy(in, coordinates.data(), count * sizeof(float4), cudaMemcpyHostToDevice));
  read<T><<<(count + 63) / 64, 64>>>(t, object, in, out, count);
  std::vector<T> got(count);
  MUST(cudaMemcpy(got.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost));
  cudaFree(in);
  cudaFree(out);
  return got;
}

template <class T>
static std::string hex(const std::vector<T>& values, int words) {
  std::string text;
  for (const T& v : values) {
    unsigned w[4];
    memcpy(w, &v, sizeof w);
    for (int i = 0; i < words; ++i) {
      char one[12];
      std::snprintf(one, sizeof one, "%s%x", i == 0 ? (text.empty() ? "" : " ") : ",", w[i]);
      text += one;
    }
  }
  return text;
}

static void show(const std::string& name, const texture& t, const std::vector<float4>& coordinates,
                 int spread = 1, int words = 1) {
  std::vector<unsigned char> bytes = contents(t, spread);
  source s;
  fill(s, t, bytes);
  cudaTextureDesc desc{};
  for (auto& mode : desc.addressMode) mode = t.address;
  desc.filterMode = t.filter;
  desc.readMode = t.read;
  desc.normalizedCoords = t.normalized;
  desc.sRGB = t.srgb;
  desc.seamlessCubemap = t.seamless;
  const float border[4] = {0.3f, -0.7f, 300.25f, 70000.f};
  memcpy(desc.borderColor, border, sizeof border);
  cudaTextureObject_t object = 0;
  const cudaError_t made = cudaCreateTextureObject(&object, &s.resource, &desc, nullptr);
  if (made != cudaSuccess) {
    say(name, made);
    cudaGetLastError();
    return;
  }
  const bool floats =
      t.kind == cudaChannelFormatKindFloat || t.read == cudaReadModeNormalizedFloat;
  if (floats) {
    say(name, hex(run<float4>(t, object, coordinates), words));
  } else if (t.kind == cudaChannelFormatKindSigned) {
    say(name, hex(run<int4>(t, object, coordinates), words));
  } else {
    say(name, hex(run<uint4>(t, object, coordinates), words));
  }
  MUST(cudaDestroyTextureObject(object));
}

// All over the texture and beyond it.
static std::vector<float4> around(const texture& t, int count, float low, float high) {
  std::vector<float4> c(count);
  for (float4& v : c) {
    v.x = between(low, high) * (t.normalized ? 1 : t.width);
    v.y = between(low, high) * (t.normalized ? 1 : t.height);
    v.z = between(low, high) * (t.normalized ? 1 : t.depth);
    v.w = static_cast<float>(static_cast<int>(chance() % 6) - 1);
  }
  return c;
}

static const char* const modes[] = {"wrap", "clamp", "mirror", "border"};
static const char* const filters[] = {"point", "linear"};

static std::string label(const texture& t) {
  return std::string(modes[t.address]) + (t.normalized ? ".fraction." : ".texel.") +
         filters[t.filter];
}

template <class Use>
static void for_modes(texture t, Use&& use) {
  for (int address = 0; address < 4; ++address) {
    for (int filter = 0; filter < 2; ++filter) {
      for (bool normalized : {false, true}) {
        t.address = static_cast<cudaTextureAddressMode>(address);
        t.filter = static_cast<cudaTextureFilterMode>(filter);
        t.normalized = normalized;
        use(t);
      }
    }
  }
}

static void coordinates() {
  std::vector<float4> odd;
  for (float f : {0.f, -0.f, NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 1e-40f, -1e-40f, 1.f, -1.f,
                  0.5f, 0.99999994f, 1.0000001f, 65536.f, -1e6f, 3e9f, 16777215.f, 4194304.5f}) {
    odd.push_back(make_float4(f, 0.5f, 0.5f, 0));
    odd.push_back(make_float4(0.5f, f, 0.5f, 0));
  }
  for_modes(texture{}, [&](texture t) {
    show("odd." + label(t), t, odd);
    std::vector<float4> edges;
    for (int k = -18; k <= 34; ++k) {
      const float f = static_cast<float>(k) * 0.5f / (t.normalized ? 7 : 1);
      for (float v : {nextafterf(f, -INFINITY), f, nextafterf(f, INFINITY)})
        edges.push_back(make_float4(v, 0.5f, 0, 0));
    }
    show("edges." + label(t), t, edges);
    show("around." + label(t), t, around(t, 40, -3, 3));
  });
  // How much of a fraction counts depends on the size.
  for (int width : {1, 2, 64, 100, 1000, 4099, 8192, 16384, 20000, 33000, 65536}) {
    texture t;
    t.dimensions = 1;
    t.width = width;
    t.height = 1;
    t.normalized = true;
    t.filter = cudaFilterModeLinear;
    show("width." + std::to_string(width), t, around(t, 40, -0.1f, 1.1f));
  }
}

static void sums() {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    texture t;
    t.dimensions = dimensions;
    t.width = dimensions == 1 ? 512 : dimensions == 2 ? 32 : 8;
    t.height = dimensions == 1 ? 1 : t.width;
    t.depth = dimensions == 3 ? t.width : 1;
    t.filter = cudaFilterModeLinear;
    const std::string d = std::to_string(dimensions) + "d.";
    for (int spread : {0, 1, 4, 12, 30, 120})
      show("sums." + d + "float.spread" + std::to_string(spread), t, around(t, 60, 0, 1), spread);
    t.bits = 16;
    for (int spread : {0, 1, 5, 14})
      show("sums." + d + "half.spread" + std::to_string(spread), t, around(t, 60, 0, 1), spread);
    t.read = cudaReadModeNormalizedFloat;
    for (int kind = 0; kind < 2; ++kind) {
      for (int bits : {8, 16}) {
        t.kind = static_cast<cudaChannelFormatKind>(kind);
        t.bits = bits;
        show("sums." + d + (kind ? "unsigned" : "signed") + std::to_string(bits), t,
             around(t, 60, 0, 1));
      }
    }
  }
}

static void formats() {
  for (int kind = 0; kind < 3; ++kind) {
    for (int bits : {8, 16, 32}) {
      if (kind == 2 && bits == 8) continue;
      for (int components : {1, 2, 4}) {
        for (int fractions = 0; fractions < 2; ++fractions) {
          texture t;
          t.kind = static_cast<cudaChannelFormatKind>(kind);
          t.bits = bits;
          t.components = components;
          t.read = static_cast<cudaTextureReadMode>(fractions);
          t.address = cudaAddressModeBorder;
          const std::string name = std::string(".") + "suf"[kind] + std::to_string(bits) + "x" +
                                   std::to_string(components) + (fractions ? ".fraction" : "");
          show("format" + name, t, around(t, 16, -0.3f, 1.3f), 3, 4);
          texture line = t;
          line.dimensions = 1;
          line.width = 32;
          line.height = 1;
          line.resource = cudaResourceTypeLinear;
          line.what = fetch;
          std::vector<float4> places;
          for (float i : {-1e9f, -2.f, -1.f, 0.f, 1.f, 30.f, 31.f, 32.f, 33.f, 1e9f})
            places.push_back(make_float4(i, 0, 0, 0));
          show("fetch" + name, line, places, 3, 4);
          t.filter = cudaFilterModeLinear;
          t.address = cudaAddressModeMirror;
          t.normalized = true;
          show("filtered" + name, t, around(t, 12, -1, 2), 3, 4);
          t.address = cudaAddressModeBorder;
          show("filtered.border" + name, t, around(t, 12, -0.2f, 1.2f), 3, 4);
        }
      }
    }
  }
  for (int components : {1, 2, 4}) {
    texture t;
    t.dimensions = 1;
    t.width = 64;
    t.height = 1;
    t.kind = cudaChannelFormatKindUnsigned;
    t.bits = 8;
    t.components = components;
    t.read = cudaReadModeNormalizedFloat;
    t.srgb = true;
    show("srgb.x" + std::to_string(components), t, around(t, 40, 0, 1), 0, components);
  }
}

static void shapes() {
  for (int dimensions = 1; dimensions <= 2; ++dimensions) {
    for (int filter = 0; filter < 2; ++filter) {
      texture t;
      t.dimensions = dimensions;
      t.height = dimensions == 1 ? 1 : 5;
      t.depth = 4;
      t.flags = cudaArrayLayered;
      t.what = layered;
      t.filter = static_cast<cudaTextureFilterMode>(filter);
      show("layered." + std::to_string(dimensions) + "d." + filters[filter], t,
           around(t, 30, -0.2f, 1.2f));
    }
  }
  for (int component = 0; component < 4; ++component) {
    for (int address : {0, 1, 3}) {
      texture t;
      t.flags = cudaArrayTextureGather;
      t.components = 4;
      t.what = gather;
      t.component = component;
      t.address = static_cast<cudaTextureAddressMode>(address);
      t.normalized = true;
      show("gather." + std::to_string(component) + "." + modes[address], t, around(t, 12, -1, 2), 1,
           4);
    }
  }
  for (int width : {1, 4, 7}) {
    for (int filter = 0; filter < 2; ++filter) {
      for (bool seamless : {false, true}) {
        texture t;
        t.width = t.height = width;
        t.depth = 18;
        t.flags = cudaArrayCubemap | cudaArrayLayered;
        t.what = cube_layered;
        t.normalized = true;
        t.filter = static_cast<cudaTextureFilterMode>(filter);
        t.seamless = seamless;
        const std::string name = "cube." + std::to_string(width) + "." + filters[filter] +
                                 (seamless ? ".seamless" : "");
        std::vector<float4> c = around(t, 60, -1, 1);
        for (int i = 0; i < 27; ++i)
          c.push_back(make_float4(i % 3 - 1.f, i / 3 % 3 - 1.f, i / 9 - 1.f, 1));
        show(name + ".layered", t, c);
        t.depth = 6;
        t.flags = cudaArrayCubemap;
        t.what = cube;
        show(name, t, c);
      }
    }
  }
  for (operation what : {lod, grad}) {
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      texture t;
      t.dimensions = dimensions;
      t.height = dimensions > 1 ? 5 : 1;
      t.depth = dimensions > 2 ? 4 : 1;
      t.what = what;
      t.normalized = true;
      t.filter = cudaFilterModeLinear;
      show(std::string(what == lod ? "lod." : "grad.") + std::to_string(dimensions) + "d", t,
           around(t, 20, -0.1f, 1.1f));
    }
  }
  for_modes(texture{}, [&](texture t) {
    t.resource = cudaResourceTypePitch2D;
    show("pitch." + label(t), t, around(t, 20, -2, 2));
  });
  texture line;
  line.dimensions = 1;
  line.width = 16;
  line.height = 1;
  line.resource = cudaResourceTypeLinear;
  show("line.read.by.tex1D", line, around(line, 20, -1, 2));
}

// An array read by an instruction of another shape.
static void others() {
  struct shape {
    const char* name;
    int dimensions, height, depth;
    unsigned flags;
    cudaResourceType resource = cudaResourceTypeArray;
  };
  const shape all[] = {{"1d", 1, 1, 1, 0},
                       {"2d", 2, 5, 1, 0},
                       {"3d", 3, 5, 4, 0},
                       {"1d.layered", 1, 1, 4, cudaArrayLayered},
                       {"2d.layered", 2, 5, 4, cudaArrayLayered},
                       {"cube", 2, 7, 6, cudaArrayCubemap},
                       {"line", 1, 1, 1, 0, cudaResourceTypeLinear},
                       {"pitch", 2, 5, 1, 0, cudaResourceTypePitch2D}};
  for (const shape& s : all) {
    for (operation what : {plain, layered, fetch, gather, cube}) {
      for (int dimensions = 1; dimensions <= 3; ++dimensions) {
        if ((what == layered && dimensions == 3) || (what > layered && dimensions > 1)) continue;
        texture t;
        t.dimensions = s.dimensions;
        t.height = s.height;
        t.depth = s.depth;
        t.flags = s.flags;
        t.resource = s.resource;
        std::vector<unsigned char> bytes = contents(t, 1);
        source from;
        fill(from, t, bytes);
        cudaTextureDesc desc{};
        for (auto& mode : desc.addressMode) mode = cudaAddressModeClamp;
        cudaTextureObject_t object = 0;
        MUST(cudaCreateTextureObject(&object, &from.resource, &desc, nullptr));
        std::vector<float4> c = around(t, 8, 0, 1);
        const char* const names[] = {"tex", "layered", "gather", "fetch", "cube"};
        t.what = what;
        t.dimensions = dimensions;
        say(std::string("other.") + s.name + "." + names[what] + std::to_string(dimensions),
            hex(run<float4>(t, object, c), 1));
        MUST(cudaDestroyTextureObject(object));
      }
    }
  }
}

template <class T>
__global__ void small(cudaTextureObject_t object, T* out) {
  out[threadIdx.x] = tex2D<T>(object, threadIdx.x + 0.5f, 1.5f);
}

template <class T>
static void typed(const char* name, T (*)()) {
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
  say(std::string("channels.") + name, std::to_string(desc.x) + " " + std::to_string(desc.y) + " " +
                                           std::to_string(desc.z) + " " + std::to_string(desc.w) +
                                           " kind " + std::to_string(desc.f));
  cudaArray_t array;
  MUST(cudaMallocArray(&array, &desc, 8, 4));
  T values[32];
  for (size_t i = 0; i < sizeof values; ++i)
    reinterpret_cast<unsigned char*>(values)[i] = static_cast<unsigned char>(i * 37 + 11);
  MUST(cudaMemcpy2DToArray(array, 0, 0, values, 8 * sizeof(T), 8 * sizeof(T), 4,
                           cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  cudaTextureObject_t object;
  MUST(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  T* out;
  MUST(cudaMalloc(&out, 8 * sizeof(T)));
  small<T><<<1, 8>>>(object, out);
  T got[8];
  MUST(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  say(std::string("typed.") + name, memcmp(got, values + 8, sizeof got) == 0);
  MUST(cudaFree(out));
  MUST(cudaDestroyTextureObject(object));
  MUST(cudaFreeArray(array));
}
#define TYPED(type) typed<type>(#type, nullptr)

static void types() {
  TYPED(signed char);
  TYPED(unsigned char);
  TYPED(char1);
  TYPED(char2);
  TYPED(char4);
  TYPED(uchar1);
  TYPED(uchar2);
  TYPED(uchar4);
  TYPED(short);
  TYPED(unsigned short);
  TYPED(short1);
  TYPED(short2);
  TYPED(short4);
  TYPED(ushort1);
  TYPED(ushort2);
  TYPED(ushort4);
  TYPED(int);
  TYPED(unsigned int);
  TYPED(int1);
  TYPED(int2);
  TYPED(int4);
  TYPED(uint1);
  TYPED(uint2);
  TYPED(uint4);
  TYPED(float);
  TYPED(float1);
  TYPED(float2);
  TYPED(float4);
}

int main(int argc, char** argv) {
  const std::string section = argc > 1 ? argv[1] : "";
  state = 1;
  MUST(cudaFree(nullptr));
  if (section == "coordinates") coordinates();
  if (section == "sums") sums();
  if (section == "formats") formats();
  if (section == "shapes") shapes();
  if (section == "others") others();
  if (section == "types") types();
  say(section + ".end", "ok");
}

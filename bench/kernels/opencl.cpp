// The problems for PoCL: the kernels of kernels.cl (its path is the first argument).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "problems.hpp"

using namespace bench;

namespace {

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "opencl: %s: error %d\n", what, error);
  std::exit(1);
}

struct size {
  std::size_t x, y = 1;
};

class device {
 public:
  explicit device(const char* path) {
    cl_platform_id platform;
    cl_device_id id;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, nullptr), "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr), "no device");
    context_ = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &error);
    check(error, "context");
    queue_ = clCreateCommandQueue(context_, id, 0, &error);
    check(error, "queue");
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string source = text.str();
    const char* start = source.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &start, nullptr, &error);
    check(error, "program");
    char options[256];
    std::snprintf(options, sizeof options,
                  "-DFACTOR=%ff -DSIDE=%d -DBODIES=%d -DSOFTENING=%ff -DRATE=%ff -DVOLATILITY=%ff",
                  factor, side, bodies, softening, rate, volatility);
    check(clBuildProgram(program_, 1, &id, options, nullptr, nullptr), "build");
  }

  template <class T>
  cl_mem buffer(const std::vector<T>& v) {
    cl_int error;
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   v.size() * sizeof(T), const_cast<T*>(v.data()), &error);
    check(error, "buffer");
    return memory;
  }
  template <class T>
  std::vector<T> back(cl_mem memory, std::size_t n) {
    std::vector<T> v(n);
    check(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, n * sizeof(T), v.data(), 0, nullptr,
                              nullptr),
          "read");
    return v;
  }
  void fill(cl_mem memory, unsigned word, std::size_t bytes) {
    check(clEnqueueFillBuffer(queue_, memory, &word, sizeof word, 0, bytes, 0, nullptr, nullptr),
          "fill");
  }
  void write(cl_mem memory, const void* from, std::size_t bytes) {
    check(clEnqueueWriteBuffer(queue_, memory, CL_FALSE, 0, bytes, from, 0, nullptr, nullptr),
          "write");
  }

  template <class... Arguments>
  cl_kernel kernel(const char* name, Arguments... arguments) {
    cl_int error;
    cl_kernel k = clCreateKernel(program_, name, &error);
    check(error, name);
    cl_uint i = 0;
    (check(clSetKernelArg(k, i++, sizeof arguments, &arguments), "argument"), ...);
    return k;
  }
  void launch(cl_kernel k, size groups, size group) {
    const std::size_t all[] = {groups.x * group.x, groups.y * group.y}, each[] = {group.x, group.y};
    check(clEnqueueNDRangeKernel(queue_, k, 2, nullptr, all, each, 0, nullptr, nullptr), "launch");
  }
  void finish() { check(clFinish(queue_), "finish"); }

 private:
  cl_context context_;
  cl_command_queue queue_;
  cl_program program_;
};

// What a run must write.
struct outputs {
  struct part {
    cl_mem memory;
    std::size_t words;
  };
  device& d;
  std::vector<part> parts;

  void clear() const {
    for (const part& p : parts) d.fill(p.memory, cleared, p.words * sizeof cleared);
    d.finish();
  }
};

}  // namespace

int main(int argc, char** argv) {
  device d(argv[1]);
  const choice chosen{argc - 1, argv + 1};
  auto one = [&](const char* name, cl_kernel k, size groups, size group,
                 std::vector<outputs::part> writes, auto right) {
    measure(name, [&] { d.launch(k, groups, group), d.finish(); }, outputs{d, writes}, right);
  };
  for (const char* name :
       {"saxpy", "copy", "triad", "stride_saxpy", "stride_copy", "stride_triad"}) {
    if (!chosen(name)) continue;
    const bool strides = std::strncmp(name, "stride_", 7) == 0;
    const floats x = numbers(stream_n, 1000), y = numbers(stream_n, 77);
    const auto want = right_stream(name + (strides ? 7 : 0), x, y);
    cl_mem dx = d.buffer(x), dy = d.buffer(y), dz = d.buffer(floats(stream_n));
    one(name, d.kernel(name, dx, dy, dz, stream_n), {strides ? std::size_t{1056} : stream_n / 256},
        {256}, {{dz, stream_n}}, [&] { return want.is(d.back<float>(dz, stream_n)); });
    for (cl_mem m : {dx, dy, dz}) clReleaseMemObject(m);
  }
  if (chosen("matmul")) {
    const floats a = numbers(matrix * matrix, 100, 0.01f), b = numbers(matrix * matrix, 33, 0.1f);
    const auto want = right_product(a, b);
    cl_mem c = d.buffer(a);
    one("matmul", d.kernel("multiply", d.buffer(a), d.buffer(b), c, matrix),
        {matrix / 16, matrix / 16}, {16, 16}, {{c, a.size()}},
        [&] { return want.is(d.back<float>(c, a.size())); });
  }
  for (const char* name : {"reduce_shared", "reduce_shuffle"}) {
    if (!chosen(name)) continue;
    const floats x = summands();
    const auto want = right_sum(x);
    cl_mem dx = d.buffer(x), out = d.buffer(floats(1056));
    cl_kernel k = d.kernel("reduce", dx, out, stream_n);
    float sum = 0;
    measure(
        name,
        [&] {
          d.launch(k, {1056}, {256});
          sum = 0;
          for (float part : d.back<float>(out, 1056)) sum += part;
        },
        outputs{d, {{out, 1056}}}, [&] { return want.is({sum}); });
  }
  for (const char* name : block_sums) {
    // There are no shuffles.
    if (!chosen(name) || std::string(name) == "block_sums_shuffles") continue;
    const floats x = summands();
    const auto want = right_sums(x);
    cl_mem out = d.buffer(want.values);
    cl_kernel k = d.kernel(name, d.buffer(x), out, stream_n);
    // The only one whose local memory is an argument.
    if (std::string(name) == "block_sums_extern")
      check(clSetKernelArg(k, 3, 256 * sizeof(float), nullptr), "argument");
    one(name, k, {stream_n / 256}, {256}, {{out, want.values.size()}},
        [&] { return want.is(d.back<float>(out, want.values.size())); });
  }
  if (chosen("scan")) {
    const std::vector<int> in = whole_numbers(scan_n);
    const auto want = right_scan(in);
    cl_mem out = d.buffer(in);
    cl_mem sums[] = {d.buffer(std::vector<int>(scan_n / 256)), d.buffer(std::vector<int>(256)),
                     d.buffer(std::vector<int>(256))};
    cl_kernel up[] = {d.kernel("scan_blocks", d.buffer(in), out, sums[0]),
                      d.kernel("scan_blocks", sums[0], sums[0], sums[1]),
                      d.kernel("scan_blocks", sums[1], sums[1], sums[2])};
    cl_kernel down[] = {d.kernel("add_sums", sums[0], sums[1]), d.kernel("add_sums", out, sums[0])};
    measure(
        "scan",
        [&] {
          d.launch(up[0], {scan_n / 256}, {256});
          d.launch(up[1], {scan_n / 65536}, {256});
          d.launch(up[2], {1}, {256});
          d.launch(down[0], {scan_n / 65536}, {256});
          d.launch(down[1], {scan_n / 256}, {256});
          d.finish();
        },
        outputs{d, {{out, scan_n}}}, [&] { return want.is(d.back<int>(out, scan_n)); });
  }
  if (chosen("transpose")) {
    const floats in = numbers(side * side, 65521);
    const auto want = right_transpose(in);
    cl_mem out = d.buffer(in);
    one("transpose", d.kernel("transpose", d.buffer(in), out), {side / 32, side / 32}, {32, 8},
        {{out, in.size()}}, [&] { return want.is(d.back<float>(out, in.size())); });
  }
  if (chosen("histogram")) {
    const auto in = letters();
    const auto want = right_histogram(in);
    cl_mem out = d.buffer(std::vector<int>(bins));
    cl_kernel k = d.kernel("histogram", d.buffer(in), out, bytes_n);
    measure(
        "histogram",
        [&] { d.fill(out, 0, bins * sizeof(int)), d.launch(k, {1056}, {bins}), d.finish(); },
        outputs{d, {{out, bins}}}, [&] { return want.is(d.back<int>(out, bins)); });
  }
  if (chosen("stencil")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_stencil(in);
    cl_mem out = d.buffer(in);
    one("stencil", d.kernel("stencil", d.buffer(in), out), {side / 32, side / 8}, {32, 8},
        {{out, in.size()}}, [&] { return want.is(d.back<float>(out, in.size())); });
  }
  if (chosen("columns")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_columns(in);
    cl_mem out = d.buffer(in);
    one("columns", d.kernel("columns", d.buffer(in), out), {side / 256}, {256}, {{out, in.size()}},
        [&] { return want.is(d.back<float>(out, in.size())); });
  }
  if (chosen("spmv")) {
    const sparse_matrix a = sparse();
    const floats x = numbers(sparse_rows, 11);
    const auto want = right_sparse_product(a, x);
    cl_mem y = d.buffer(x);
    one("spmv",
        d.kernel("multiply_sparse", d.buffer(a.starts), d.buffer(a.columns), d.buffer(a.values),
                 d.buffer(x), y),
        {sparse_rows / 8}, {256}, {{y, sparse_rows}},
        [&] { return want.is(d.back<float>(y, sparse_rows)); });
  }
  if (chosen("nbody")) {
    const floats x = numbers(bodies, 101, 0.1f), y = numbers(bodies, 103, 0.1f),
                 z = numbers(bodies, 107, 0.1f);
    const auto want = right_forces(x, y, z);
    cl_mem fx = d.buffer(x), fy = d.buffer(x), fz = d.buffer(x);
    one("nbody", d.kernel("forces", d.buffer(x), d.buffer(y), d.buffer(z), fx, fy, fz),
        {bodies / 256}, {256}, {{fx, bodies}, {fy, bodies}, {fz, bodies}}, [&] {
          return want.x.is(d.back<float>(fx, bodies)) && want.y.is(d.back<float>(fy, bodies)) &&
                 want.z.is(d.back<float>(fz, bodies));
        });
  }
  if (chosen("black_scholes")) {
    const floats spot = numbers(options_n, 251, 0.1f, 5), strike = numbers(options_n, 991, 0.1f, 1);
    const floats years = numbers(options_n, 97, 0.1f, 0.25f);
    const auto want = right_prices(spot, strike, years);
    cl_mem call = d.buffer(spot), put = d.buffer(spot);
    one("black_scholes",
        d.kernel("black_scholes", d.buffer(spot), d.buffer(strike), d.buffer(years), call, put,
                 options_n),
        {options_n / 256}, {256}, {{call, options_n}, {put, options_n}}, [&] {
          return want.call.is(d.back<float>(call, options_n)) &&
                 want.put.is(d.back<float>(put, options_n));
        });
  }
  for (const maths_problem& problem : maths_problems) {
    if (!chosen(problem.name)) continue;
    const floats x = maths_arguments();
    const auto want = right_maths(problem, x);
    cl_mem out = d.buffer(x);
    one(problem.name,
        d.kernel((std::string(problem.name) + "_all").c_str(), d.buffer(x), out, maths_n),
        {maths_n / 256}, {256}, {{out, maths_n}},
        [&] { return want.is(d.back<float>(out, maths_n)); });
  }
  if (chosen("memcpy")) {
    const expected<float> want{numbers(stream_n, 1000)};
    const floats& from = want.values;
    cl_mem to = d.buffer(floats(stream_n));
    measure(
        "memcpy", [&] { d.write(to, from.data(), from.size() * sizeof(float)), d.finish(); },
        outputs{d, {{to, stream_n}}}, [&] { return want.is(d.back<float>(to, stream_n)); });
  }
}

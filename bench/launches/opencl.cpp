// The same launches through OpenCL: `name<TAB>nanoseconds` lines. PoCL, where it is installed.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  std::exit(1);
}

double now_ns() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void say(const char* name, double ns) { std::printf("%s\t%.1f\n", name, ns); }

}  // namespace

int main() {
  cl_platform_id platform;
  cl_device_id device;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_int status = 0;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  const char* source =
      "__kernel void nothing() {}\n"
      "__kernel void nothing_often(int times, volatile __global int* out) {\n"
      "  for (int i = 0; i < times; ++i) *out = i;\n"
      "}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel nothing = clCreateKernel(program, "nothing", &status);
  check(status, "clCreateKernel");
  cl_command_queue s = clCreateCommandQueue(context, device, 0, &status);
  cl_command_queue t = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  const std::size_t one = 1;
  cl_kernel often = clCreateKernel(program, "nothing_often", &status);
  check(status, "clCreateKernel");
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), nullptr, &status);
  check(status, "clCreateBuffer");
  const int times = 0;
  check(clSetKernelArg(often, 0, sizeof times, &times), "clSetKernelArg");
  check(clSetKernelArg(often, 1, sizeof out, &out), "clSetKernelArg");
  const auto launch = [&](cl_kernel k) {
    check(clEnqueueNDRangeKernel(s, k, 1, nullptr, &one, &one, 0, nullptr, nullptr), "launch");
  };

  constexpr int burst = 500;
  const auto launches = [&](const char* enqueue_name, const char* through_name,
                            const char* sync_name, cl_kernel k) {
    for (int i = 0; i < 200; ++i) launch(k);
    clFinish(s);
    std::vector<double> enqueue, through, sync;
    for (int r = 0; r < 51; ++r) {
      const double begin = now_ns();
      for (int i = 0; i < burst; ++i) launch(k);
      const double issued = now_ns();
      clFinish(s);
      enqueue.push_back((issued - begin) / burst);
      through.push_back((now_ns() - begin) / burst);
    }
    for (int r = 0; r < 2001; ++r) {
      const double begin = now_ns();
      launch(k);
      clFinish(s);
      sync.push_back(now_ns() - begin);
    }
    say(enqueue_name, median(enqueue));
    say(through_name, median(through));
    say(sync_name, median(sync));
  };
  launches("enqueue", "end to end", "launch and synchronize", nothing);
  launches("handed over: enqueue", "handed over: end to end", "handed over: launch, sync", often);

  // OpenCL 1.2 has no graphs: the launches one by one.
  std::vector<double> chain, pair;
  for (int r = 0; r < 51; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < 20 * 20; ++i) launch(nothing);
    clFinish(s);
    chain.push_back((now_ns() - begin) / 20);
  }
  say("graph of 20", median(chain));
  for (int r = 0; r < 51; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < burst; ++i) {
      cl_event marker;
      check(clEnqueueMarkerWithWaitList(i % 2 ? s : t, 0, nullptr, &marker), "marker");
      check(clEnqueueBarrierWithWaitList(i % 2 ? t : s, 1, &marker, nullptr), "barrier");
      clReleaseEvent(marker);
    }
    clFlush(s);
    clFlush(t);
    clFinish(s);
    clFinish(t);
    pair.push_back((now_ns() - begin) / burst);
  }
  say("record and wait", median(pair));

  // A kernel of OpenCL has no clock to wait for: functions of the host, in as many queues.
  cl_device_exec_capabilities can = 0;
  check(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr),
        "clGetDeviceInfo");
  if (!(can & CL_EXEC_NATIVE_KERNEL)) return 0;
  std::array<cl_command_queue, 4> four;
  for (auto& q : four) q = clCreateCommandQueue(context, device, 0, &status);
  std::vector<double> sleeps;
  for (int r = 0; r < 3; ++r) {
    const double begin = now_ns();
    for (int k = 0; k < 4; ++k)
      for (auto q : four) {
        const auto sleep = [](void*) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        };
        check(clEnqueueNativeKernel(q, sleep, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr),
              "clEnqueueNativeKernel");
      }
    for (auto q : four) clFlush(q);
    for (auto q : four) clFinish(q);
    sleeps.push_back(now_ns() - begin);
  }
  say("4 x 4 x 20 ms", median(sleeps));
}

// The same launches through OpenCL: `name<TAB>nanoseconds` lines. PoCL, where it is installed.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
  const char* source = "__kernel void nothing() {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel nothing = clCreateKernel(program, "nothing", &status);
  check(status, "clCreateKernel");
  cl_command_queue s = clCreateCommandQueue(context, device, 0, &status);
  cl_command_queue t = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  const std::size_t one = 1;
  const auto launch = [&](cl_command_queue q, cl_event* event) {
    check(clEnqueueNDRangeKernel(q, nothing, 1, nullptr, &one, &one, 0, nullptr, event), "launch");
  };
  for (int i = 0; i < 200; ++i) launch(s, nullptr);
  clFinish(s);

  constexpr int burst = 500;
  std::vector<double> enqueue, through, sync, pair;
  for (int r = 0; r < 51; ++r) {
    const double begin = now_ns();
    for (int i = 0; i < burst; ++i) launch(s, nullptr);
    const double issued = now_ns();
    clFinish(s);
    enqueue.push_back((issued - begin) / burst);
    through.push_back((now_ns() - begin) / burst);
  }
  for (int r = 0; r < 2001; ++r) {
    const double begin = now_ns();
    launch(s, nullptr);
    clFinish(s);
    sync.push_back(now_ns() - begin);
  }
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
  say("enqueue", median(enqueue));
  say("end to end", median(through));
  say("launch and synchronize", median(sync));
  say("record and wait", median(pair));
}

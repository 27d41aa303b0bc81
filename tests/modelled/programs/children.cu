// A program that starts others. `self`: it runs itself again, which has three kernels; `fork`: two
// children that begin before anything of CUDA's is called, with three kernels each; `close`: it
// closes all files that it may have inherited.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__global__ void nothing() {}

static int launch(int kernels) {
  for (int i = 0; i < kernels; ++i) nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "self") {
    if (launch(5) != 0) return 1;
    const int status = std::system((std::string(argv[0]) + " child").c_str());
    return status != 0 ? 1 : launch(5);
  }
  if (how == "fork") {
    for (int i = 0; i < 2; ++i)
      if (fork() == 0) std::exit(launch(3));
    int status = 0, failed = 0;
    while (wait(&status) > 0) failed |= status;
    return failed != 0 ? 1 : 0;
  }
  if (how == "close") {  // what a program does that goes into the background
    if (launch(1) != 0) return 1;
    for (int i = 3; i < 256; ++i) close(i);
    return launch(20'000);
  }
  return launch(3);
}

/* How a kernel is launched, as clang sees it. */
#ifndef STREAMBED_LAUNCH_CONFIGURATION_H
#define STREAMBED_LAUNCH_CONFIGURATION_H

/* What `<<< >>>` compiles to: the configuration is kept until the kernel's stub asks for it. The
   place of the launch goes along for messages, so the function behind it is one of our own. */
extern "C" unsigned __cudaPushCallConfiguration(
    dim3 gridDim, dim3 blockDim = 1, size_t sharedMem = 0, struct CUstream_st* stream = 0,
    const char* file = __builtin_FILE(),
    unsigned line = __builtin_LINE()) __asm__("__cudaPushCallConfigurationAt");
extern "C" cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem,
                                                  void* stream);

#endif

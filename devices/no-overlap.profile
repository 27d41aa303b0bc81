# An H200 that can do one thing at a time: a copy runs beside no kernel and no other copy, a kernel beside no
# other kernel (deviceOverlap, asyncEngineCount and concurrentKernels are 0, as on devices of compute capability
# 1.0). It shows what overlap is worth: the same program, the same speeds, no concurrency on the device.

base = h200
origin = published figures: CUDA C Programming Guide (compute capability 1.0) for what cannot overlap; the rest as h200

name = NVIDIA H200 without overlap
copy_engines = 0
resident_kernels = 1
concurrent_kernels = no

# Cross-build of the runtime and the streambed command for x86-64 (Debian's crossbuild-essential-amd64):
#   cmake -S . -B build-x86 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/x86_64-linux-gnu.cmake -DSTREAMBED_TESTS=OFF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER x86_64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR}/x86)
set(CLI11_DIR ${CMAKE_CURRENT_LIST_DIR}/x86)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-x86_64;-L;/usr/x86_64-linux-gnu)

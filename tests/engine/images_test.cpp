// Device code that is loaded from a program.
#include "engine/images.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sb::engine {
namespace {

TEST(images, kernels_of_another_device_interface_are_refused_and_told_once) {
  std::ifstream in(STREAMBED_OLD_IMAGE, std::ios::binary);
  const std::vector<char> elf((std::istreambuf_iterator<char>(in)), {});
  ASSERT_FALSE(elf.empty());
  image* const old = register_image(elf.data());
  static const char stubs[2] = {};
  register_kernel(old, &stubs[0], "first");
  register_kernel(old, &stubs[1], "second");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i)
    for (const char& stub : stubs)
      EXPECT_EQ(find_kernel(&stub, device_id{0}).error(), status::no_kernel_image);
  const std::string told = testing::internal::GetCapturedStderr();
  const std::size_t at = told.find("was compiled for device interface");
  ASSERT_NE(at, std::string::npos) << told;
  EXPECT_EQ(told.find("was compiled for device interface", at + 1), std::string::npos) << told;
  unregister_image(old);
}

}  // namespace
}  // namespace sb::engine

// The device image in host objects that were compiled without it.
#include "compiler/nvcc/host_object.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace {

using namespace sb::nvcc;

// An object of three sections: none, the image's, and that of their names.
std::string object_with(std::string_view section, std::uint64_t size, bool numbers_are_large) {
  std::string names(1, '\0');
  names.append(section).append(1, '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  std::array<Elf64_Shdr, 3> sections{};
  if (numbers_are_large) {
    header.e_shstrndx = SHN_XINDEX;
    sections[0].sh_size = sections.size();
    sections[0].sh_link = 2;
  } else {
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shstrndx = 2;
  }
  sections[1].sh_name = 1;
  sections[1].sh_size = size;
  sections[1].sh_addralign = 64;
  sections[2].sh_offset = sizeof header + sizeof sections;
  sections[2].sh_size = names.size();
  std::string object(reinterpret_cast<const char*>(&header), sizeof header);
  object.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  return object + names;
}

TEST(HostObjects, GetTheImageAsTheirEmptySection) {
  for (const bool numbers_are_large : {false, true}) {
    const std::string object = object_with(".nv_fatbin", 0, numbers_are_large);
    const std::string filled = filled_object(object, "image");
    Elf64_Shdr section;
    std::memcpy(&section, filled.data() + sizeof(Elf64_Ehdr) + sizeof section, sizeof section);
    EXPECT_EQ(section.sh_size, 5U);
    EXPECT_EQ(section.sh_offset % 64, 0U);
    EXPECT_GE(section.sh_offset, object.size());
    EXPECT_EQ(filled.substr(section.sh_offset), "image");
  }
}

TEST(HostObjects, WithoutASectionForTheImageStayAsTheyAre) {
  for (const char* name : {".nv_fatbin2", ".nv_fat", ".text"}) {
    const std::string object = object_with(name, 0, false);
    EXPECT_EQ(filled_object(object, "image"), object) << name;
  }
}

TEST(HostObjects, ThatAreNoneOrAreCutOffAreNotFilled) {
  const std::string object = object_with(".nv_fatbin", 0, false);
  EXPECT_THROW((void)filled_object("BC\xC0\xDE", "image"), fatal_error);
  EXPECT_THROW((void)filled_object(std::string(200, 'x'), "image"), fatal_error);
  EXPECT_THROW((void)filled_object(object.substr(0, sizeof(Elf64_Ehdr) + 100), "image"),
               fatal_error);
  EXPECT_THROW((void)filled_object(object_with(".nv_fatbin", 8, false), "image"), fatal_error);
}

TEST(HostObjects, ThatOtherFilesAreNamedAfterAreNotFilled) {
  EXPECT_TRUE(can_be_filled({}));
  EXPECT_TRUE(can_be_filled({"-fPIC", "-O2", "-Wall", "-fopenmp"}));
  for (const char* option :
       {"-flto", "-flto=thin", "-fsanitize=thread", "--coverage", "-gsplit-dwarf"})
    EXPECT_FALSE(can_be_filled({"-fPIC", option})) << option;
}

}  // namespace

#include "host_object.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace sb::nvcc {
namespace {

constexpr std::string_view section_name = ".nv_fatbin";

constexpr std::array<std::string_view, 14> hindering = {
    "-flto",           "-emit-llvm",
    "-fembed-bitcode", "-fsanitize",
    "--coverage",      "-coverage",
    "-ftest-coverage", "-fprofile",
    "-fcoverage",      "-gsplit-dwarf",
    "-save-temps",     "--save-temps",
    "-ftime-trace",    "-fsave-optimization-record"};

template <class Record>
Record load(const std::string& bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record))
    throw fatal_error("The host compiler wrote an object that is cut off");
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof(Record));
  return record;
}

bool has_name(const std::string& object, std::uint64_t offset) {
  return offset < object.size() && object.size() - offset > section_name.size() &&
         std::string_view(object).substr(offset, section_name.size()) == section_name &&
         object[offset + section_name.size()] == '\0';
}

}  // namespace

bool can_be_filled(const arguments& host_options) {
  return std::none_of(host_options.begin(), host_options.end(), [](const std::string& option) {
    return std::any_of(hindering.begin(), hindering.end(),
                       [&](std::string_view prefix) { return starts_with(option, prefix); });
  });
}

std::string filled_object(std::string object, std::string_view image) {
  const auto header = load<Elf64_Ehdr>(object, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    throw fatal_error("The host compiler wrote something else than an object");
  const auto place = [&](std::uint64_t index) {
    return header.e_shoff + index * sizeof(Elf64_Shdr);
  };
  // Numbers that are too large for the header are in the first section's.
  const auto first = load<Elf64_Shdr>(object, place(0));
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const std::uint64_t names_index =
      header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  const auto names = load<Elf64_Shdr>(object, place(names_index));
  for (std::uint64_t i = 1; i < count; ++i) {
    auto section = load<Elf64_Shdr>(object, place(i));
    if (!has_name(object, names.sh_offset + section.sh_name)) continue;
    if (section.sh_size != 0)
      throw fatal_error("The host compiler wrote something into the section of the device image");
    const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
    section.sh_offset = (object.size() + alignment - 1) / alignment * alignment;
    section.sh_size = image.size();
    std::memcpy(object.data() + place(i), &section, sizeof section);
    object.resize(section.sh_offset);
    object += image;
    break;
  }
  return object;
}

}  // namespace sb::nvcc

#include "device_object.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "text.hpp"

namespace sb::nvcc {
namespace {

constexpr std::string_view unit_magic = "SBDEVBC1";
constexpr std::string_view section_name = ".llvm.offloading";
constexpr std::size_t header_size = 16;

constexpr std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

template <class Record>
bool load(std::string_view bytes, std::size_t offset, Record& record) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return false;
  std::memcpy(&record, bytes.data() + offset, sizeof(Record));
  return true;
}

std::string_view slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

void read_section(std::string_view bytes, const std::string& origin,
                  std::vector<device_unit>& units) {
  while (bytes.size() >= header_size && starts_with(bytes, unit_magic)) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + unit_magic.size(), sizeof size);
    const std::string_view bitcode = slice(bytes, header_size, size);
    if (bitcode.size() != size) throw fatal_error("'" + origin + "' holds damaged device code");
    units.push_back({origin, std::string(bitcode)});
    const std::size_t next = header_size + padded(size);
    if (next >= bytes.size()) return;
    bytes.remove_prefix(next);
  }
}

void read_object(std::string_view bytes, const std::string& origin,
                 std::vector<device_unit>& units) {
  Elf64_Ehdr header;
  if (!load(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff == 0)
    return;
  Elf64_Shdr first;
  if (!load(bytes, header.e_shoff, first)) return;
  const std::size_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const std::size_t names_index =
      header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  const auto section = [&](std::size_t index, Elf64_Shdr& out) {
    return load(bytes, header.e_shoff + index * sizeof(Elf64_Shdr), out);
  };
  Elf64_Shdr names;
  if (!section(names_index, names)) return;
  for (std::size_t i = 0; i < count; ++i) {
    Elf64_Shdr each;
    if (!section(i, each)) return;
    const std::string_view name =
        slice(bytes, names.sh_offset + each.sh_name, section_name.size() + 1);
    if (name.size() == section_name.size() + 1 && starts_with(name, section_name) &&
        name.back() == '\0')
      read_section(slice(bytes, each.sh_offset, each.sh_size), origin, units);
  }
}

// Members have a header of 60 characters; long names are in the member "//".
void read_archive(std::string_view bytes, const std::string& path,
                  std::vector<device_unit>& units) {
  std::string_view long_names;
  std::size_t at = 8;
  while (at + 60 <= bytes.size()) {
    const std::string_view header = bytes.substr(at, 60);
    std::size_t size = 0;
    for (char c : header.substr(48, 10))
      if (c >= '0' && c <= '9') size = size * 10 + static_cast<std::size_t>(c - '0');
    const std::string_view content = slice(bytes, at + 60, size);
    std::string name(header.substr(0, 16));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (name == "//") {
      long_names = content;
    } else if (name != "/" && name != "/SYM64/") {
      if (name.size() > 1 && name[0] == '/') {
        const std::size_t from = std::strtoul(name.c_str() + 1, nullptr, 10);
        if (from < long_names.size())
          name = std::string(long_names.substr(from, long_names.find('/', from) - from));
      } else if (!name.empty() && name.back() == '/') {
        name.pop_back();
      }
      read_object(content, path + "(" + name + ")", units);
    }
    at += 60 + size + (size & 1);
  }
}

// A thin archive names its members, which lie beside it.
void read_thin_archive(std::string_view bytes, const std::string& path,
                       std::vector<device_unit>& units) {
  std::string_view long_names;
  std::size_t at = 8;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  while (at + 60 <= bytes.size()) {
    const std::string_view header = bytes.substr(at, 60);
    std::string name(header.substr(0, 16));
    while (!name.empty() && name.back() == ' ') name.pop_back();
    const std::size_t size = std::strtoul(std::string(header.substr(48, 10)).c_str(), nullptr, 10);
    at += 60;
    if (name == "//" || name == "/" || name == "/SYM64/") {
      if (name == "//") long_names = slice(bytes, at, size);
      at += size + (size & 1);
      continue;
    }
    if (name.size() > 1 && name[0] == '/') {
      const std::size_t from = std::strtoul(name.c_str() + 1, nullptr, 10);
      if (from < long_names.size())
        name = std::string(long_names.substr(from, long_names.find("/\n", from) - from));
    } else if (!name.empty() && name.back() == '/') {
      name.pop_back();
    }
    const std::string member = (directory / name).string();
    read_object(read_file(member), path + "(" + name + ")", units);
  }
}

}  // namespace

std::string wrap_device_code(std::string_view bitcode) {
  const std::uint64_t size = bitcode.size();
  std::string out(unit_magic);
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(bitcode);
  out.resize(header_size + padded(bitcode.size()));
  return out;
}

std::vector<device_unit> read_device_units(const std::string& path) {
  std::vector<device_unit> units;
  const std::string bytes = read_file(path);
  if (starts_with(bytes, "!<arch>\n"))
    read_archive(bytes, path, units);
  else if (starts_with(bytes, "!<thin>\n"))
    read_thin_archive(bytes, path, units);
  else
    read_object(bytes, path, units);
  return units;
}

}  // namespace sb::nvcc

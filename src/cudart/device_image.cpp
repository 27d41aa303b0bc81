#include "cudart/device_image.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace sb::cudart {
namespace {

using header = ElfW(Ehdr);
using section = ElfW(Shdr);
using segment = ElfW(Phdr);
using symbol = ElfW(Sym);

const char* at(const void* elf, std::size_t offset) {
  return static_cast<const char*>(elf) + offset;
}

// The dynamic symbols, with a function that names each.
template <class Visit>
void for_each_symbol(const void* elf, Visit&& visit) {
  const auto& head = *static_cast<const header*>(elf);
  const auto* sections = reinterpret_cast<const section*>(at(elf, head.e_shoff));
  for (const section& s : std::span(sections, head.e_shnum)) {
    if (s.sh_type != SHT_DYNSYM) continue;
    const char* names = at(elf, sections[s.sh_link].sh_offset);
    const auto* first = reinterpret_cast<const symbol*>(at(elf, s.sh_offset));
    for (const symbol& one : std::span(first, s.sh_size / sizeof(symbol))) {
      visit(std::string_view(names + one.st_name), one);
    }
  }
}

}  // namespace

std::vector<std::string> managed_variables(const void* elf) {
  constexpr std::string_view suffix = ".sb_managed";
  std::vector<std::string> found;
  for_each_symbol(elf, [&](std::string_view name, const symbol&) {
    if (name.ends_with(suffix)) found.emplace_back(name.substr(0, name.size() - suffix.size()));
  });
  return found;
}

void copy_initial_value(const void* elf, std::string_view name, void* to, std::size_t bytes) {
  std::memset(to, 0, bytes);
  const auto& head = *static_cast<const header*>(elf);
  const auto* segments = reinterpret_cast<const segment*>(at(elf, head.e_phoff));
  for_each_symbol(elf, [&](std::string_view candidate, const symbol& one) {
    if (candidate != name || one.st_shndx == SHN_UNDEF) return;
    for (const segment& s : std::span(segments, head.e_phnum)) {
      if (s.p_type != PT_LOAD || one.st_value < s.p_vaddr) continue;
      const std::size_t inside = one.st_value - s.p_vaddr;
      if (inside >= s.p_filesz) continue;  // zeros that the file does not hold
      std::memcpy(to, at(elf, s.p_offset + inside),
                  std::min<std::size_t>(bytes, s.p_filesz - inside));
    }
  });
}

}  // namespace sb::cudart

#include "hidden_headers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "lexer.hpp"
#include "process.hpp"

namespace sb::nvcc {
namespace {

namespace fs = std::filesystem;

// The line between the names and the files that were there.
constexpr std::string_view separator = "--";

// The files behind the colon.
arguments prerequisites(const std::string& rule) {
  arguments files;
  std::string file;
  const auto end_file = [&] {
    if (!file.empty()) files.push_back(file);
    file.clear();
  };
  const std::size_t colon = rule.find(':');
  for (std::size_t i = colon == std::string::npos ? rule.size() : colon + 1; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == ' ' || c == '\n') {
      end_file();
    } else if (c == '\\' && next == '\n') {
      end_file();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      file += next;
      ++i;
    } else {
      file += c;
    }
  }
  end_file();
  return files;
}

// Calls `found` with each of `names`, which are sorted, that the folder has. A folder within it is
// asked for once: most have none of them.
template <class Found>
void look_into(const std::string& folder, const arguments& names, Found found) {
  const int directory =
      open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  std::string within;
  bool is_there = false;
  for (const std::string& name : names) {
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      if (name.compare(0, slash + 1, within) != 0) {
        within = name.substr(0, slash + 1);
        is_there = faccessat(directory, within.c_str(), F_OK, 0) == 0;
      }
      if (!is_there) continue;
    }
    if (faccessat(directory, name.c_str(), F_OK, 0) == 0) found(name);
  }
  close(directory);
}

}  // namespace

arguments header_folders(const arguments& line) {
  arguments folders;
  for (std::size_t i = 0; i < line.size(); ++i)
    for (const std::string_view flag : {"-I", "-isystem", "-iquote", "-idirafter"}) {
      if (!starts_with(line[i], flag)) continue;
      if (line[i].size() > flag.size())
        folders.push_back(line[i].substr(flag.size()));
      else if (i + 1 < line.size())
        folders.push_back(line[++i]);
      break;
    }
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"})
    if (const char* more = std::getenv(name); more != nullptr && *more != '\0')
      for (const std::string& folder : split(more, ':')) folders.push_back(folder);
  return folders;
}

std::string hidable_headers(const std::string& rule, const arguments& folders) {
  std::set<std::string> names;
  for (const std::string& file : prerequisites(rule)) {
    const std::string text = read_file(file);
    for (const std::string_view include : includes_of(text)) {
      const std::string name(include.substr(1, include.size() - 2));
      // Beside the file that names it nothing comes before it.
      const bool is_beside =
          include[0] == '"' && file_exists((fs::path(file).parent_path() / name).string());
      if (!is_beside && !name.empty()) names.insert(name);
    }
  }
  const arguments sorted(names.begin(), names.end());
  std::string kept;
  for (const std::string& name : sorted) kept += name + '\n';
  kept.append(separator) += '\n';
  for (const std::string& folder : folders)
    look_into(folder, sorted, [&](const std::string& name) { kept += folder + '/' + name + '\n'; });
  return kept;
}

bool hides_nothing_new(const std::string& kept, const arguments& folders) {
  arguments names;
  std::set<std::string> were_there;
  bool behind = false;
  for (std::string& line : split(kept, '\n'))
    if (behind)
      were_there.insert(std::move(line));
    else if (line == separator)
      behind = true;
    else
      names.push_back(std::move(line));
  bool nothing = behind;  // a file that is cut off says nothing
  for (const std::string& folder : folders)
    look_into(folder, names, [&](const std::string& name) {
      if (!were_there.contains(folder + '/' + name)) nothing = false;
    });
  return nothing;
}

}  // namespace sb::nvcc

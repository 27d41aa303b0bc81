// The timeline of a run as a picture that scales.
#pragma once

#include <string>

#include "timeline_notes.hpp"

namespace sb::tools {

enum class picture_theme { as_viewer, light, dark };  // as_viewer: as the viewer's page is

// What is wider no browser draws.
inline constexpr int narrowest_picture = 400, widest_picture = 16000;

struct picture_options {
  int width = 1200;
  picture_theme theme = picture_theme::as_viewer;
};

struct picture {
  std::string svg;
  int width = 0, height = 0;
};

// Every bar is in it: those that would be thinner than a pixel share a rectangle, whose
// `data-count` says how many they are.
[[nodiscard]] picture draw_svg(const trace::trace& trace, const timeline_notes& notes,
                               const picture_options& options);

}  // namespace sb::tools

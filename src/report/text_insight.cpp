// The parts of the text that tell a user what to choose, what to copy and what may be left.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/pareto.h"
#include "report/quality.h"
#include "report/text_parts.h"
#include "report/what_mattered.h"
#include "report/words.h"

namespace fiel {
namespace {

constexpr std::size_t kPointsShown = 8;
constexpr std::size_t kLevelsShown = 4;  // of a knob: the fastest
constexpr double kLeastShown = 0.01;     // a share below one per cent is no news

std::string point_words(const ParetoPoint& point) {
  std::string text = fmt::format("#{} {}x", point.id, format_ratio(point.ratio));
  if (point.peak_memory_bytes) text += fmt::format(", {}", format_bytes(*point.peak_memory_bytes));
  if (point.margin_left) text += fmt::format(", margin {}", format_share(*point.margin_left));
  return text;
}

std::string levels_words(const KnobEffect& knob) {
  std::string text;
  for (std::size_t i = 0; i < std::min(knob.levels.size(), kLevelsShown); ++i) {
    const LevelEffect& level = knob.levels[i];
    text += fmt::format("{}{} {}x", text.empty() ? "" : ", ", level.value, format_ratio(level.ratio));
    if (level.admissible == 0) text += " (none admissible)";
  }
  return text + fmt::format(" (1: {})", knob.reference);
}

void say_engine(Page& page, const WhatMattered& mattered) {
  if (!mattered.too_little.empty()) {
    return page.paragraph("", fmt::format("What mattered on {}: not known; {}.", mattered.engine, mattered.too_little));
  }
  page.paragraph("", fmt::format("What mattered on {}: shares of the variance of log latency by a model of knobs and pairs of knobs, "
                                 "fitted to {} timed candidates; of those it had not seen it leaves {} unexplained. Ratios: how many "
                                 "times as fast, on average over the settings beside it.",
                                 mattered.engine, mattered.candidates, format_share(mattered.unexplained)));
  for (const KnobEffect& knob : mattered.knobs) {
    if (knob.share >= kLeastShown) page.indented(2, fmt::format("{:>5}  {}: {}", format_share(knob.share), knob.knob, levels_words(knob)));
  }
  for (const PairEffect& pair : mattered.pairs) {
    page.indented(2, fmt::format("{:>5}  {} with {}, beyond what each does alone", format_share(pair.share), pair.first, pair.second));
  }
  std::string copy;
  for (const Setting& setting : mattered.to_copy) {
    copy += fmt::format("{}{}={} ({}x)", copy.empty() ? "" : ", ", setting.knob, setting.value, format_ratio(setting.ratio));
  }
  if (!copy.empty()) page.indented(2, fmt::format("to try first on the next model: {}", copy), Paint::kStrong);
}

}  // namespace

void say_pareto(Page& page, const RunView& view) {
  const ParetoSet set = pareto_set(view);
  if (set.compared < 2) return;
  std::string points;
  for (std::size_t i = 0; i < std::min(set.points.size(), kPointsShown); ++i) {
    points += fmt::format("{}{}", points.empty() ? "" : "; ", point_words(set.points[i]));
  }
  if (set.points.size() > kPointsShown) points += fmt::format("; and {} more", set.points.size() - kPointsShown);
  const bool all_axes = set.axes.size() == 3;
  page.blank();
  page.paragraph("", fmt::format("No other admissible candidate is at least as good in {} together (Pareto set, by point estimates; {} of {}{}): {}",
                                 all_axes ? "speed, memory and accuracy" : "what was measured of speed, memory and accuracy", set.points.size(),
                                 set.compared, set.left_out > 0 ? fmt::format(", {} without all figures", set.left_out) : "", points));
}

void say_what_mattered(Page& page, const RunView& view) {
  const auto all = what_mattered(view);
  if (all.empty()) return;
  page.blank();
  for (const WhatMattered& mattered : all) say_engine(page, mattered);
}

void say_quality(Page& page, const RunView& view) {
  const auto quality = quality_statement(view);
  if (!quality) return;
  page.blank();
  page.paragraph("left", quality->sentence);
}

}  // namespace fiel

#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/units.h"
#include "cli/characters.h"
#include "cli/command.h"
#include "decide/best_so_far.h"

namespace fiel {
namespace {

constexpr auto kStatusEvery = std::chrono::milliseconds(100);  // more often than that nobody can read

// Cut by characters, not bytes, so that a multi-byte one is never torn.
std::string elide(std::string_view text, std::size_t width) {
  std::size_t characters = 0, bytes = 0;
  while (bytes < text.size()) {
    const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (starts && ++characters > width) break;
    ++bytes;
  }
  return std::string(text.substr(0, bytes));
}

}  // namespace

std::string status_line(const StatusParts& parts) {
  std::string text(parts.stage);
  const auto add = [&](std::string_view part) { text += fmt::format("; {}", part); };
  if (parts.left_seconds) {
    add(fmt::format("{} of {} left", format_duration(*parts.left_seconds), format_duration(parts.wall_seconds)));
  }
  if (!parts.best.empty()) add(fmt::format("best {}", parts.best));
  if (!parts.detail.empty()) add(parts.detail);
  return text;
}

StderrProgress::StderrProgress()
    : terminal_(is_terminal(STDERR_FILENO) && use_color(STDERR_FILENO)),
      started_at_(std::chrono::steady_clock::now()),
      status_at_(started_at_ - kStatusEvery) {}

StderrProgress::~StderrProgress() { clear_status(); }

void StderrProgress::clear_status() {
  if (status_shown_) fmt::print(stderr, "\r\x1b[K");
  status_shown_ = false;
}

void StderrProgress::draw_status() {
  if (!terminal_ || stage_.empty()) return;
  std::optional<double> left;
  if (budget_) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - budget_at_;
    left = std::max(0.0, budget_->wall_seconds - budget_->spent_seconds - since.count());
  }
  const std::string text = status_line({.stage = stage_, .left_seconds = left,
                                        .wall_seconds = budget_ ? budget_->wall_seconds : 0, .best = best_, .detail = detail_});
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1);
  fmt::print(stderr, "\r\x1b[K{}", shown_on(STDERR_FILENO, elide("        " + text, width)));
  std::fflush(stderr);
  status_shown_ = true;
}

void StderrProgress::line(std::string_view text) {
  clear_status();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_at_).count();
  fmt::print(stderr, "{:3}:{:02}  {}\n", seconds / 60, seconds % 60, shown_on(STDERR_FILENO, text));
  detail_.clear();
  draw_status();
}

void StderrProgress::stage(std::string_view name, std::string_view detail) {
  stage_ = name;
  line(detail.empty() ? std::string(name) : fmt::format("{}: {}", name, detail));
}

void StderrProgress::step(std::string_view text) { line(fmt::format("  {}", text)); }

void StderrProgress::status(std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - status_at_ < kStatusEvery) return;
  status_at_ = now;
  detail_ = text;
  draw_status();
}

void StderrProgress::recorded(const Standing& standing) {
  if (terminal_) best_ = best_so_far(standing);
}

void StderrProgress::budget(const TimeBudget& budget) {
  budget_ = budget;
  budget_at_ = std::chrono::steady_clock::now();
}

void StderrProgress::warn(std::string_view text) { line(fmt::format("  note: {}", text)); }

}  // namespace fiel

#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/command.h"

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

StderrProgress::StderrProgress()
    : terminal_(is_terminal(STDERR_FILENO) && use_color(STDERR_FILENO)),
      started_at_(std::chrono::steady_clock::now()),
      status_at_(started_at_ - kStatusEvery) {}

StderrProgress::~StderrProgress() { clear_status(); }

void StderrProgress::clear_status() {
  if (status_shown_) fmt::print(stderr, "\r\x1b[K");
  status_shown_ = false;
}

void StderrProgress::line(std::string_view text) {
  clear_status();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_at_).count();
  fmt::print(stderr, "{:3}:{:02}  {}\n", seconds / 60, seconds % 60, text);
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
  status_shown_ = true;
  const auto width = static_cast<std::size_t>(terminal_width(STDERR_FILENO) - 1);
  fmt::print(stderr, "\r\x1b[K{}", elide(fmt::format("        {}: {}", stage_, text), width));
  std::fflush(stderr);
}

void StderrProgress::warn(std::string_view text) { line(fmt::format("  note: {}", text)); }

}  // namespace fiel

#include "cli/command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/characters.h"

namespace fiel {

ExitStatus report_error(const Error& error) {
  if (error.kind == ErrorKind::kCancelled) return ExitStatus::kInterrupted;  // said where it happened
  fmt::print(stderr, "fiel: error: {}\n", shown_on(STDERR_FILENO, error.message));
  std::string_view hint = error.hint;
  while (!hint.empty()) {
    const auto end = hint.find('\n');
    fmt::print(stderr, "      {}\n", shown_on(STDERR_FILENO, hint.substr(0, end)));
    hint = end == std::string_view::npos ? std::string_view() : hint.substr(end + 1);
  }
  return exit_status_of(error.kind);
}

ExitStatus end_of(const Result<ExitStatus>& done) { return done ? *done : report_error(done.error()); }

ExitStatus end_of_one_off(const Result<ExitStatus>& done) {
  if (!done && done.error().kind == ErrorKind::kCancelled) fmt::print(stderr, "\nfiel: interrupted\n");
  return end_of(done);
}

ExitStatus print_result(const std::string& result) {
  const std::string text = shown_on(STDOUT_FILENO, result);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) {
    std::perror("fiel: error: cannot write the result");
    return ExitStatus::kEnvironment;
  }
  return ExitStatus::kDecided;
}

std::string say_path(const std::filesystem::path& path) {
  std::error_code code;
  const auto relative = std::filesystem::proximate(path, code);
  return code || relative.string().starts_with("..") ? path.string() : relative.string();
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

bool use_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return is_terminal(descriptor);
}

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace fiel

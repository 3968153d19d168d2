#include "protocol/channel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fiel {

Result<> LineSplitter::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    if (partial_.size() + piece.size() > kMaxLineBytes) {
      return fail(ErrorKind::kProtocol,
                  fmt::format("a line is longer than {} bytes", kMaxLineBytes));
    }
    partial_.append(piece);
    if (newline == std::string_view::npos) return {};
    lines_.push_back(std::exchange(partial_, {}));
    bytes.remove_prefix(newline + 1);
  }
  return {};
}

std::optional<std::string> LineSplitter::next() {
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

Result<std::optional<std::string>> LineReader::next() {
  std::array<char, 65536> buffer;
  while (true) {
    if (std::optional<std::string> line = splitter_.next()) return line;
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count == 0) return std::optional<std::string>();
    if (count < 0) {
      if (errno == EINTR) continue;
      return fail(ErrorKind::kDied, fmt::format("cannot read requests: {}", std::strerror(errno)));
    }
    FIEL_TRY(splitter_.feed({buffer.data(), static_cast<std::size_t>(count)}));
  }
}

Result<> write_line(int descriptor, std::string_view line) {
  // One buffer, so that a line of ordinary size leaves in one write.
  std::string text;
  text.reserve(line.size() + 1);
  text.append(line).push_back('\n');
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor, rest.data(), rest.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return fail(ErrorKind::kDied, fmt::format("cannot write: {}", std::strerror(errno)));
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace fiel

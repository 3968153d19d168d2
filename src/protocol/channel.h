// How lines travel between fiel and a worker: one JSON object a line, at most 4 MiB, over
// descriptors. Knows nothing of what the lines say (protocol/message.h, docs/protocol.md), nor of
// deadlines (pool/).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {

constexpr int kProtocolVersion = 1;
/// The longest line, its newline not counted. A request of 64 samples takes some 20 KiB.
constexpr std::size_t kMaxLineBytes = std::size_t{4} << 20;

/// Cuts a byte stream into lines, in whatever pieces it comes.
class LineSplitter {
 public:
  /// A line that grows above kMaxLineBytes is an error, found before more than that is kept.
  Result<> feed(std::string_view bytes);
  std::optional<std::string> next();
  /// Bytes of a line whose newline has not come yet: at end of input, this says that the other side
  /// was cut off.
  std::size_t unfinished_bytes() const { return partial_.size(); }

 private:
  std::string partial_;
  std::deque<std::string> lines_;
};

/// Blocking reader of the worker's side.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}
  /// nullopt at the end of input, even where it cuts a line: nobody waits for an answer to half a
  /// request.
  Result<std::optional<std::string>> next();

 private:
  int descriptor_;
  LineSplitter splitter_;
};

/// Writes `line` and a newline, all of it.
Result<> write_line(int descriptor, std::string_view line);

}  // namespace fiel

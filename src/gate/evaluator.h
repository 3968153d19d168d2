// How good are these answers in the words of the user's own program? Lays the outputs of a chunk down as
// `<sample>.npz`, runs the program with that folder and the data set's, and reads one JSON line per sample:
//
//   {"sample": "0017", "score": 0.0-1.0 or any finite number}      other keys are ignored
//
// Every sample of the chunk must come exactly once. Anything else is an error that names evaluator and sample and shows
// the end of what the program said; a score is never made up. Knows no margins.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "gate/score.h"

namespace fiel {

/// Where the outputs of a chunk are laid down, once for all the programs that score it; the next chunk's are written over
/// them.
class ChunkFolder {
 public:
  ChunkFolder() = default;
  ChunkFolder(const ChunkFolder&) = delete;
  ChunkFolder& operator=(const ChunkFolder&) = delete;
  ~ChunkFolder();  // leaves its files below `scratch` for the next one to write over

  /// What lies here is scored; the next items are other ones.
  void next_chunk() { is_laid_down_ = false; }
  /// The folder with `<sample>.npz` of each item and nothing else. Made below `scratch` at the first call.
  Result<std::filesystem::path> lay_down(const std::filesystem::path& scratch, std::span<const ScoreItem> items);

 private:
  std::optional<TempFolder> place_;
  std::filesystem::path spare_;  // where the next one looks
  bool is_laid_down_ = false;
};

struct EvaluatorPlace {
  std::filesystem::path scratch;  // the outputs' folder is made here and removed again
  std::filesystem::path dataset;  // the user's folder, given to the program as it is
  int cancel_fd = -1;
  ChunkFolder* chunk = nullptr;   // shared by the tasks of one chunk; nullptr: a folder for this call alone
};

/// One score per item, in their order. kProtocol: what the program printed, or how it ended; kTimeout; kEnvironment: it
/// cannot be started, or the outputs cannot be written; kCancelled.
Result<std::vector<double>> score_by_program(const TaskRule& task, std::span<const ScoreItem> items,
                                             const EvaluatorPlace& place);

/// The program's lines as scores; `ids` are the samples of the chunk, all different.
Result<std::vector<double>> parse_scores(std::string_view lines, std::span<const std::string> ids);

/// Built-in or program.
Result<std::vector<double>> score_items(const TaskRule& task, std::span<const ScoreItem> items,
                                        const ScoreOptions& options, const EvaluatorPlace& place);

}  // namespace fiel

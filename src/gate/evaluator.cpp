#include "gate/evaluator.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/subprocess.h"
#include "model/npy.h"

namespace fiel {
namespace {

constexpr std::size_t kShownOfALine = 120;
constexpr int kShownLogLines = 8;

constexpr std::size_t kNameBytes = 255 - 4;  // with its ".npz"

bool is_file_name(const std::string& id) {
  return !id.empty() && id.size() <= kNameBytes && id.front() != '.' && id.find('/') == std::string::npos &&
         id.find('\0') == std::string::npos;
}

namespace fs = std::filesystem;

// Files of the chunk before are moved aside and written over one by one; those that are left over go.
Result<> write_outputs(const fs::path& folder, const fs::path& spare, std::span<const ScoreItem> items) {
  std::error_code code;
  fs::remove_all(spare, code);
  fs::rename(folder, spare, code);  // not there at first
  FIEL_TRY(ensure_folder(folder));
  fs::directory_iterator used(spare, code);
  for (const ScoreItem& item : items) {
    if (!is_file_name(item.sample->id)) {
      return fail(ErrorKind::kContract,
                  fmt::format("sample \"{}\" cannot be the name of a file, and evaluator programs get one file per sample",
                              printable(item.sample->id)),
                  "rename it in labels.csv: no '/', no '.' in front, at most 251 bytes");
    }
    const fs::path file = folder / (item.sample->id + ".npz");
    if (!code && used != fs::directory_iterator()) {
      std::error_code not_moved;  // then the file is made anew
      fs::rename(used->path(), file, not_moved);
      used.increment(code);
    }
    FIEL_TRY(write_npz(file, *item.outputs));
  }
  return {};
}

std::string title(const TaskRule& task) {
  std::string command;
  for (const std::string& word : task.program) command += (command.empty() ? "" : " ") + word;
  return fmt::format("evaluator `{}` of task {}", printable(command), task.name);
}

Error with_log(Error error, const std::string& errors_tail) {
  const std::string tail = printable(last_lines(errors_tail, kShownLogLines));
  error.hint = tail.empty() ? "it wrote nothing to standard error"
                            : "its standard error ends with:\n" + tail;
  return error;
}

std::unexpected<Error> bad_line(std::int64_t number, std::string_view line, std::string_view why) {
  return fail(ErrorKind::kProtocol, fmt::format("line {} of its output, {}, {}", number,
                                                excerpt(line, kShownOfALine), why));
}

}  // namespace

Result<std::vector<double>> parse_scores(std::string_view lines, std::span<const std::string> ids) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) FIEL_CHECK(places.emplace(ids[i], i).second);
  std::vector<std::optional<double>> scores(ids.size());
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string_view line = lines.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto json = parse_json(line);
    if (!json) return bad_line(number, line, "is " + json.error().message);
    const auto id = get_string(*json, "sample");
    if (!id) return bad_line(number, line, "does not name its sample: " + id.error().message);
    const auto place = places.find(*id);
    if (place == places.end()) {
      return bad_line(number, line, "is about a sample that was not given to it");
    }
    // get_number refuses what is not finite; NaN is not JSON in the first place.
    const auto score = get_number(*json, "score");
    if (!score) {
      return bad_line(number, line, fmt::format("has no score for sample {}: {}", *id, score.error().message));
    }
    if (scores[place->second]) {
      return bad_line(number, line, fmt::format("is a second score for sample {}", *id));
    }
    scores[place->second] = *score;
  }
  std::vector<double> all;
  all.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!scores[i]) {
      return fail(ErrorKind::kProtocol, fmt::format("it gave no score for sample {}", ids[i]));
    }
    all.push_back(*scores[i]);
  }
  return all;
}

ChunkFolder::~ChunkFolder() {
  std::error_code there_is_one;
  if (place_) fs::rename(place_->path() / "outputs", spare_, there_is_one);
}

Result<fs::path> ChunkFolder::lay_down(const fs::path& scratch, std::span<const ScoreItem> items) {
  if (!place_) {
    FIEL_TRY(ensure_folder(scratch));
    place_.emplace(FIEL_TRY(TempFolder::create(scratch, "outputs-")));
    spare_ = scratch / "outputs.spare";
    std::error_code none;
    fs::rename(spare_, place_->path() / "outputs", none);
  }
  const fs::path folder = place_->path() / "outputs";
  if (is_laid_down_) return folder;
  FIEL_TRY(write_outputs(folder, place_->path() / "spare", items));
  is_laid_down_ = true;
  return folder;
}

Result<std::vector<double>> score_by_program(const TaskRule& task, std::span<const ScoreItem> items,
                                             const EvaluatorPlace& place) {
  FIEL_CHECK(!task.program.empty());
  ChunkFolder alone;
  const fs::path folder = FIEL_TRY((place.chunk != nullptr ? *place.chunk : alone).lay_down(place.scratch, items));
  std::vector<std::string> argv = task.program;
  argv.push_back(folder.string());
  argv.push_back(place.dataset.string());
  const ProgramOptions options{.timeout_seconds = task.timeout_seconds, .cancel_fd = place.cancel_fd};
  auto run = run_program(argv, options);
  if (!run) return std::unexpected(std::move(run).error().with_context(title(task)));
  if (!run->exit.is_success()) {
    Error error{ErrorKind::kProtocol, fmt::format("{} ended with {} on samples {} to {}", title(task),
                                                  to_string(run->exit), items.front().sample->id,
                                                  items.back().sample->id)};
    return std::unexpected(with_log(std::move(error), run->errors_tail));
  }
  std::vector<std::string> ids;
  for (const ScoreItem& item : items) ids.push_back(item.sample->id);
  auto scores = parse_scores(run->output, ids);
  if (!scores) {
    return std::unexpected(
        with_log(std::move(scores).error().with_context(title(task)), run->errors_tail));
  }
  return scores;
}

Result<std::vector<double>> score_items(const TaskRule& task, std::span<const ScoreItem> items,
                                        const ScoreOptions& options, const EvaluatorPlace& place) {
  if (items.empty()) return std::vector<double>();
  return task.builtin ? score_builtin(task, items, options) : score_by_program(task, items, place);
}

}  // namespace fiel

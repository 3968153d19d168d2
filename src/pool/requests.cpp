#include "pool/requests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "pool/answers.h"
#include "protocol/channel.h"
#include "protocol/message.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr double kByeSeconds = 2;

// What `read` makes of the answer to `request`; what it refuses, the worker got wrong.
template <class T, class Read>
Outcome<T> read_answer(Answer answer, const std::string& phase, const Read& read) {
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  Result<T> result = read(std::get<Json>(answer));
  if (result) return *std::move(result);
  const FailureKind kind = result.error().kind == ErrorKind::kProtocol ? FailureKind::kProtocol
                                                                       : FailureKind::kEnvironment;
  return Failure{.kind = kind,
                 .message = result.error().message,
                 .phase = phase,
                 .log_tail = {},
                 .exit_status = {},
                 .signal = {}};
}

template <class T, class Read>
Outcome<T> ask(Worker& worker, const Json& request, double deadline_seconds, const Read& read) {
  return read_answer<T>(worker.call(request, deadline_seconds), request["type"].get<std::string>(), read);
}

Json shapes_json(std::span<const TrafficShape> shapes) {
  Json list = Json::array();
  for (const TrafficShape& shape : shapes) list.push_back(shape.inputs);
  return list;
}

Json samples_json(const SampleChoice& choice) {
  std::vector<SampleFiles> samples;
  for (const int index : choice.indices) {
    FIEL_CHECK(index >= 0 && index < std::ssize(choice.set.samples));
    SampleFiles sample{.index = index, .inputs = {}};
    for (const auto& [name, tensor] : choice.set.samples[static_cast<std::size_t>(index)].inputs) {
      sample.inputs[name] = {.file = choice.set.pack,
                             .offset = tensor.offset,
                             .dtype = tensor.dtype,
                             .shape = tensor.shape};
    }
    samples.push_back(std::move(sample));
  }
  return to_json(samples);
}

// More than any answer has: so many are removed, not written over one by one from a list of all their names.
constexpr std::size_t kMostLeft = 100'000;

// Makes sure that a folder stands there which can be listed; the worker may have put anything in its place, or taken away the
// right to read it.
Result<Fd> open_output_folder(const Worker& worker, const fs::path& folder) {
  std::error_code code;
  fs::permissions(worker.scratch(), fs::perms::owner_all, fs::perm_options::add | fs::perm_options::nofollow, code);
  Fd opened;
  for (int tries = 0; tries < 2 && !opened.is_open(); ++tries) {
    if (tries > 0 || !fs::is_directory(fs::symlink_status(folder, code))) FIEL_TRY(remove_tree(folder));
    FIEL_TRY(ensure_folder(folder));
    opened = Fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!opened.is_open()) return std::unexpected(file_error("open", folder, errno));
  return opened;
}

// True where a file can stay to be written over: its first byte is changed, so that no reader takes it for an array.
bool spoil(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts{};
  constexpr char kNoArray = 0;
  return file.is_open() && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1 &&
         ::pwrite(file.get(), &kNoArray, 1, 0) == 1;
}

// Two, so that what came out of one request can be read while the next one runs.
constexpr std::array<const char*, 2> kOutputFolders = {"out", "out.other"};

// Where a worker that ended leaves its output files for the next one to write over.
fs::path spare_folder(const Worker& worker, std::string_view name) {
  return worker.scratch().parent_path() / fmt::format("{}.spare", name);
}

// A file that the worker left there earlier can't pass for a new one, but its pages can be used again (base/files.h,
// OverWriter).
Result<fs::path> fresh_output_folder(const Worker& worker, std::string_view name = kOutputFolders[0]) {
  const fs::path folder = worker.scratch() / name;
  std::error_code code;
  if (!fs::exists(fs::symlink_status(folder, code))) fs::rename(spare_folder(worker, name), folder, code);
  // It is the worker's own, which may put a link to a folder of the user's in its place at any time: what is opened is
  // no link, and all that follows goes by what was opened.
  const Fd opened = FIEL_TRY(open_output_folder(worker, folder));
  std::vector<fs::path> left;
  const fs::path itself = fmt::format("/proc/self/fd/{}", opened.get());
  for (fs::directory_iterator at(itself, code = {}), end; !code && at != end; at.increment(code)) {
    left.push_back(at->path());
    if (left.size() <= kMostLeft) continue;
    FIEL_TRY(remove_tree(folder));
    FIEL_TRY(ensure_folder(folder));
    return folder;
  }
  for (const fs::path& path : left) {
    if (!spoil(path)) FIEL_TRY(remove_tree(path));
  }
  return folder;
}

Failure no_folder(const Error& error, std::string phase) {
  return {.kind = FailureKind::kEnvironment,
          .message = error.message,
          .phase = std::move(phase),
          .log_tail = {},
          .exit_status = {},
          .signal = {}};
}

}  // namespace

Outcome<HelloResult> request_hello(Worker& worker, double deadline_seconds) {
  return ask<HelloResult>(worker, {{"type", "hello"}, {"protocol", kProtocolVersion}},
                          deadline_seconds, read_hello);
}

Outcome<BuildResult> request_build(Worker& worker, const BuildOrder& order,
                                   double deadline_seconds) {
  const Json request = {{"type", "build"},
                        {"model", order.model.string()},
                        {"device", order.device},
                        {"settings", order.settings},
                        {"shapes", shapes_json(order.shapes)},
                        {"artifact_dir", order.artifact_dir.string()}};
  return ask<BuildResult>(worker, request, deadline_seconds, read_build);
}

Outcome<LoadResult> request_load(Worker& worker, const LoadOrder& order, double deadline_seconds) {
  Json request = {{"type", "load"},
                  {"artifact_dir", order.artifact_dir.string()},
                  {"device", order.device},
                  {"settings", order.settings},
                  {"shapes", shapes_json(order.shapes)},
                  {"scenario", to_string(order.scenario)}};
  if (!order.state.empty())
    request["state"] = to_json(std::vector(order.state.begin(), order.state.end()));
  if (order.profile) request["profile"] = true;
  return ask<LoadResult>(worker, request, deadline_seconds, read_load);
}

Outcome<std::vector<NodeSeconds>> request_profile(Worker& worker, double deadline_seconds) {
  return ask<std::vector<NodeSeconds>>(worker, {{"type", "profile"}}, deadline_seconds, read_profile);
}

Outcome<BegunInfer> begin_infer(Worker& worker, const InferOrder& order, double deadline_seconds,
                                const std::filesystem::path& still_read) {
  const std::set<int> distinct(order.samples.indices.begin(), order.samples.indices.end());
  FIEL_CHECK(distinct.size() == order.samples.indices.size());  // outputs come by index
  const bool is_taken = still_read == worker.scratch() / kOutputFolders[0];
  const auto folder = fresh_output_folder(worker, kOutputFolders[is_taken ? 1 : 0]);
  if (!folder) return no_folder(folder.error(), "infer");
  worker.begin({{"type", "infer"},
                {"batch", order.batch},
                {"output_dir", folder->string()},
                {"samples", samples_json(order.samples)}},
               deadline_seconds);
  return BegunInfer{.order = order, .folder = *folder};
}

Outcome<InferResult> finish_infer(Worker& worker, const BegunInfer& begun) {
  return read_answer<InferResult>(worker.finish(), "infer",
                                  [&](const Json& answer) { return read_infer(answer, begun.order, begun.folder); });
}

Outcome<InferResult> request_infer(Worker& worker, const InferOrder& order,
                                   double deadline_seconds) {
  auto begun = begin_infer(worker, order, deadline_seconds, {});
  if (auto* failure = std::get_if<Failure>(&begun)) return std::move(*failure);
  return finish_infer(worker, std::get<BegunInfer>(begun));
}

Outcome<MeasureResult> request_measure(Worker& worker, const MeasureOrder& order,
                                       double deadline_seconds) {
  const auto folder = fresh_output_folder(worker);
  if (!folder) return no_folder(folder.error(), "measure");
  const MeasurePlaces places{.latency_file = worker.scratch() / "block.f64", .output_dir = *folder};
  std::error_code ignored;
  fs::remove(places.latency_file, ignored);
  Json request = {{"type", "measure"},
                        {"scenario", to_string(order.scenario)},
                        {"batch", order.batch},
                        {"warmup_count", order.warmup_count},
                        {"min_count", order.min_count},
                        {"min_seconds", order.min_seconds},
                        {"max_seconds", order.max_seconds},
                        {"seed", order.seed},
                        {"samples", samples_json(order.samples)},
                        {"latency_file", places.latency_file.string()},
                        {"output_dir", folder->string()}};
  if (order.scenario == Scenario::kServer) {
    const fs::path arrivals = worker.scratch() / "arrivals.f64";
    const auto& times = order.arrivals_seconds;
    // Written beside and moved there: what the worker may have put in its place is not followed.
    const std::string_view bytes(reinterpret_cast<const char*>(times.data()), times.size() * sizeof(double));
    if (auto written = write_atomic(arrivals, bytes); !written) return no_folder(written.error(), "measure");
    request["arrivals_file"] = arrivals.string();
  }
  return ask<MeasureResult>(worker, request, deadline_seconds, [&](const Json& answer) {
    return read_measure(answer, order, places);
  });
}

void say_bye(Worker& worker) {
  if (!worker.alive() || worker.busy()) return;
  const Answer answer = worker.call({{"type", "bye"}}, kByeSeconds);
  if (std::holds_alternative<Failure>(answer)) return;
  std::error_code there_is_one;
  for (const char* name : kOutputFolders) fs::rename(worker.scratch() / name, spare_folder(worker, name), there_is_one);
}

}  // namespace fiel

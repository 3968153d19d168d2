#include "worker/engine_trtexec_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "worker/engine_trtexec_words.h"
#include "worker/guard.h"

extern char** environ;

namespace fiel::trtexec {
namespace {

constexpr std::int64_t kTextBytes = std::int64_t{32} << 20;
constexpr std::size_t kQuotedBytes = 4096;  // of a failure's last words, for our own log

// Actions of posix_spawn, freed whatever happens.
struct Actions {
  Actions() { ::posix_spawn_file_actions_init(&actions); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions); }
  posix_spawn_file_actions_t actions;
};

EngineResult<ExitState> wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return engine_fail("internal", fmt::format("cannot wait for trtexec: {}", errno_words(errno)));
  }
  if (WIFSIGNALED(status)) return ExitState{.status = {}, .signal = WTERMSIG(status)};
  return ExitState{.status = WEXITSTATUS(status), .signal = {}};
}

}  // namespace

EngineResult<Ran> run(const std::filesystem::path& program, const Call& call) {
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  Actions actions;
  ::posix_spawn_file_actions_addopen(&actions.actions, STDOUT_FILENO, call.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions.actions, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&actions.actions, call.folder.c_str());
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  if (const int code = ::posix_spawn(&pid, program.c_str(), &actions.actions, nullptr, argv.data(), environ); code != 0) {
    return engine_fail("unsupported", fmt::format("cannot run {}: {}", program.string(), errno_words(code)));
  }
  Ran ran;
  ran.exit = FIEL_TRY_ENGINE(wait_for(pid));
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ran.text = FIEL_TRY_REQUEST(read_tail(call.log, 0, kTextBytes));
  return ran;
}

EngineResult<Ran> run_well(const std::filesystem::path& program, const Call& call) {
  Ran ran = FIEL_TRY_ENGINE(run(program, call));
  if (ran.exit.is_success()) return ran;
  std::string command;
  for (const std::string& word : call.arguments) command += fmt::format(" '{}'", word);
  const std::size_t from = ran.text.size() - std::min(ran.text.size(), kQuotedBytes);
  std::fprintf(stderr, "%s%s\n%s\n", program.c_str(), command.c_str(), ran.text.c_str() + from);
  return std::unexpected(error_of(ran.exit, ran.text));
}

EngineResult<std::filesystem::path> find_program(const std::filesystem::path& named) {
  const auto runs = [](const std::filesystem::path& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (!named.empty()) {
    if (runs(named)) return std::filesystem::absolute(named);
    return engine_fail("unsupported", fmt::format("{} is no program that can be run", named.string()));
  }
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (const auto program = std::filesystem::path(folder) / "trtexec"; !folder.empty() && runs(program)) {
      return std::filesystem::absolute(program);
    }
  }
  return engine_fail("unsupported",
                     "there is no trtexec on PATH: it comes with TensorRT's packages (often /usr/src/tensorrt/bin/trtexec); "
                     "name it as library in [engines.trtexec]");
}

}  // namespace fiel::trtexec

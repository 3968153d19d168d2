#include "pool/node.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/launch.h"
#include "base/proc.h"
#include "base/subprocess.h"
#include "pool/group_watch.h"
#include "pool/machine.h"
#include "protocol/channel.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr int kLookMilliseconds = 50;
constexpr double kEndSeconds = 0.5;  // between SIGTERM and SIGKILL

struct Order {
  std::int64_t id = 0;
  std::string type = {};
  Json body = {};
};

// nullopt: there is none any more.
Result<std::optional<Order>> next_order(LineReader& lines) {
  const auto line = FIEL_TRY(lines.next());
  if (!line) return std::nullopt;
  Order order{.id = 0, .type = {}, .body = FIEL_TRY(parse_json(*line))};
  order.id = FIEL_TRY(get_int(order.body, "id"));
  order.type = FIEL_TRY(get_string(order.body, "type"));
  return order;
}

std::string environment_or(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::move(otherwise) : std::string(value);
}

Json refusal(const std::string& message) { return {{"type", "error"}, {"reason", "unsupported"}, {"message", message}}; }

Json result_of(Json json) {
  json["type"] = "result";
  return json;
}

// Empty: all there. A folder of the same name that every machine has for itself is none that they share, so the run's own
// holds a word that only this run knows.
std::string what_is_missing(const Json& request) {
  const std::string node = node_facts().node;
  for (const Json& path : request.value("files", Json::array())) {
    if (::access(path.get<std::string>().c_str(), R_OK) == 0) continue;
    return fmt::format("node {} can't read {}: it must lie on a file system that the nodes share", node, path.get<std::string>());
  }
  const std::string token = request.value("token_file", "");
  if (token.empty()) return {};
  const auto text = read_text(token);
  if (text && *text == request.value("token", "")) return {};
  return fmt::format("node {} does not see the folder {} of this run{}: it must lie on a file system that the nodes share", node,
                     fs::path(token).parent_path().string(), text ? " but another one of that name" : "");
}

std::string enter(const Json& request) {
  const std::string folder = request.value("folder", "");
  if (::chdir(folder.c_str()) != 0) return fmt::format("cannot enter {}: {}", folder, errno_words(errno));
  const auto cores = request.value("cores", std::vector<int>{});
  if (cores.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  }
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return fmt::format("cannot run on the cores asked for ([target] cores): {}", errno_words(errno));
}

// For good: what this process becomes may do no more. In words why not; empty: done, or not wanted.
std::string confine(const Json& request) {
  const auto wanted = request.find("confinement");
  if (wanted == request.end()) return {};
  Confinement confinement{.writable = {}, .network = wanted->value("network", false) ? Network::kOpen : Network::kNone};
  for (const std::string& path : wanted->value("writable", std::vector<std::string>{})) confinement.writable.emplace_back(path);
  const auto fence = Fence::create(confinement);
  if (!fence) return fence.error().message;
  if (fence->enter()) return {};
  return fmt::format("cannot confine it: {} (`[engines.NAME] confine = false` runs it without)", errno_words(errno));
}

void answer(std::int64_t id, Json json) {
  json["id"] = id;
  (void)write_line(STDOUT_FILENO, dump_json(json));
}

// Comes back only where it can't.
int become_worker(std::int64_t id, const Json& request) {
  auto argv = request.value("argv", std::vector<std::string>{});
  std::string missing = what_is_missing(request);
  if (missing.empty() && (argv.empty() || ::access(argv[0].c_str(), X_OK) != 0)) {
    missing = fmt::format("there is no program {}: it must lie on a file system that the nodes share", argv.empty() ? "" : argv[0]);
  }
  ::setpgid(0, 0);  // so that it is stopped, watched and ended with all that it starts
  if (missing.empty()) missing = enter(request);
  auto more = request.value("environment", std::map<std::string, std::string>{});
  if (request.contains("confinement")) more.emplace("TMPDIR", ".");  // as for workers beside fiel
  auto environment = clean_environment(more);
  step_behind_who_started_us();
  Json facts = to_json(node_facts());
  facts["process"] = ::getpid();
  if (missing.empty()) missing = confine(request);
  if (!missing.empty()) {
    const std::string node = node_facts().node;
    const bool named = missing.starts_with("node ");
    answer(id, refusal(named ? missing : fmt::format("node {}: {}", node, missing)));
    return 1;
  }
  answer(id, result_of(std::move(facts)));
  std::vector<char*> arguments, variables;
  for (std::string& word : argv) arguments.push_back(word.data());
  for (std::string& variable : environment) variables.push_back(variable.data());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  ::execve(arguments[0], arguments.data(), variables.data());
  std::fprintf(stderr, "fiel-node: cannot execute %s: %s\n", argv[0].c_str(), errno_words(errno).c_str());
  return 127;
}

// Who has ended and was not reaped yet, by whoever started it, lives no more.
bool anybody_lives(pid_t group) {
  return std::ranges::any_of(group_members(group), [](pid_t pid) {
    const auto facts = read_process(pid);
    return facts && facts->state != 'Z';
  });
}

class Keeper {
 public:
  /// Ends what it watched: whoever asked it is gone, and nobody else knows of these processes.
  ~Keeper() {
    for (const auto& [group, watched] : groups_) ::kill(-group, SIGKILL);
  }

  void look() {
    for (auto& [group, watched] : groups_) {
      if (!watched.limit_bytes) continue;
      watched.watch.look(steady_seconds());
      const bool over_bytes = watched.watch.resident_bytes() > *watched.limit_bytes;
      watched.over_processes = watched.watch.processes() > kMaxProcesses;
      if (!over_bytes && !watched.over_processes) continue;
      if (over_bytes) watched.over_bytes = watched.watch.resident_bytes();
      watched.limit_bytes.reset();
      ::kill(-group, SIGKILL);
    }
  }
  bool has_limits() const {
    return std::ranges::any_of(groups_, [](const auto& one) { return one.second.limit_bytes.has_value(); });
  }

  Json answer_to(const std::string& type, const Json& request) {
    if (type == "look") return machine_and(request);
    const pid_t group = request.value("process", 0);
    if (group <= 1) return refusal(fmt::format("no process {}", group));
    if (type == "watch") {
      Watched& watched = groups_.try_emplace(group, group).first->second;
      watched.limit_bytes = request.contains("memory_limit_bytes") ? request["memory_limit_bytes"].get<std::int64_t>()
                                                                   : memory_of_nearly_all();
      return result_of(Json::object());
    }
    if (!groups_.contains(group)) return refusal(fmt::format("process {} is not watched", group));
    if (type == "stop") stop_group(group);
    if (type == "continue") ::kill(-group, SIGCONT);
    if (type == "end") end(group);
    return result_of(Json::object());
  }

 private:
  struct Watched {
    explicit Watched(pid_t group) : watch(group) {}
    GroupWatch watch;
    std::optional<std::int64_t> limit_bytes = {};
    std::optional<std::int64_t> over_bytes = {};
    bool over_processes = false;
  };

  Json machine_and(const Json& request) {
    Json json = {{"own_cpu_seconds", own_cpu_seconds()}, {"groups", Json::array()}};
    for (const Json& process : request.value("processes", Json::array())) {
      const auto found = groups_.find(process.get<pid_t>());
      if (found == groups_.end()) continue;
      const WorkerUsage usage = found->second.watch.usage();
      json["groups"].push_back({{"process", found->first}, {"cpu_seconds", usage.cpu_seconds},
                                {"peak_memory_bytes", usage.peak_memory_bytes}});
      if (found->second.over_processes) json["groups"].back()["over_processes"] = true;
      if (found->second.over_bytes) json["groups"].back()["over_bytes"] = *found->second.over_bytes;
    }
    if (!request.value("machine", false)) return result_of(std::move(json));
    json["now_seconds"] = steady_seconds();
    if (const auto machine = sample_machine()) json["machine"] = to_json(*machine);
    return result_of(std::move(json));
  }

  void end(pid_t group) {
    ::kill(-group, SIGTERM);
    ::kill(-group, SIGCONT);
    const double deadline = steady_seconds() + kEndSeconds;
    while (anybody_lives(group) && steady_seconds() < deadline) ::poll(nullptr, 0, 5);
    ::kill(-group, SIGKILL);
    groups_.erase(group);
  }

  std::map<pid_t, Watched> groups_;
};

int keep(std::int64_t id, const Json& request, LineReader& lines) {
  const std::string missing = what_is_missing(request);
  answer(id, missing.empty() ? result_of(to_json(node_facts())) : refusal(missing));
  Keeper keeper;
  for (;;) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (keeper.has_limits() && ::poll(&input, 1, kLookMilliseconds) == 0) keeper.look();
    const auto next = next_order(lines);
    if (!next || !*next) return next ? 0 : 1;
    const Order& order = **next;
    answer(order.id, order.type == "bye" ? result_of(Json::object()) : keeper.answer_to(order.type, order.body));
    if (order.type == "bye") return 0;
  }
}

}  // namespace

NodeFacts node_facts() {
  utsname names{};
  ::uname(&names);
  return {.node = environment_or("SLURMD_NODENAME", names.nodename),
          .job = environment_or("SLURM_JOB_ID", ""),
          .cpu = text_at(MachineRoots().proc / "cpuinfo", "model name").value_or("unknown"),
          .cpu_count = std::thread::hardware_concurrency(),
          .kernel = names.release,
          .memory_bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE),
          .guards = kernel_guards()};
}

Json to_json(const NodeFacts& facts) {
  return {{"node", facts.node},   {"job", facts.job},       {"cpu", facts.cpu}, {"cores", facts.cpu_count},
          {"kernel", facts.kernel}, {"memory_bytes", facts.memory_bytes},
          {"landlock", facts.guards.landlock}, {"seccomp", facts.guards.seccomp}};
}

Result<NodeFacts> read_node_facts(const Json& answer) {
  NodeFacts facts;
  facts.node = FIEL_TRY(get_string(answer, "node"));
  facts.job = FIEL_TRY(get_string(answer, "job"));
  facts.cpu = FIEL_TRY(get_string(answer, "cpu"));
  facts.cpu_count = FIEL_TRY(get_int(answer, "cores"));
  facts.kernel = FIEL_TRY(get_string(answer, "kernel"));
  facts.memory_bytes = FIEL_TRY(get_int(answer, "memory_bytes"));
  facts.guards.landlock = static_cast<int>(FIEL_TRY(get_int(answer, "landlock")));
  facts.guards.seccomp = answer.value("seccomp", false);
  return facts;
}

int serve_node() {
  std::signal(SIGPIPE, SIG_IGN);
  LineReader lines(STDIN_FILENO);
  const auto first = next_order(lines);
  if (!first || !*first) {
    std::fprintf(stderr, "fiel-node: is started by fiel (docs/fleet.md) and told what to do on its standard input\n");
    return 1;
  }
  const auto& [id, type, request] = **first;
  if (type == "start") return become_worker(id, request);
  if (type == "keep") return keep(id, request, lines);
  answer(id, refusal(fmt::format("fiel-node knows no \"{}\"", type)));
  return 1;
}

}  // namespace fiel

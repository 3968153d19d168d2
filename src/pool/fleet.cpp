#include "pool/fleet.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "pool/fleet_worker.h"

namespace fiel {
namespace {

constexpr double kHeartbeatSeconds = 5;  // while a worker is at work: a machine that is gone need not be seen otherwise
constexpr double kStartSeconds = 120;  // for a launcher to bring a worker up on a machine that we have
constexpr double kGiveBackSeconds = 5;
constexpr double kCancelSeconds = 10;
// A launcher that is killed at once leaves its job behind.
constexpr double kLauncherGraceSeconds = 2;
constexpr int kMostPlaces = 3;  // tried before giving up: of another kind, or lost while a worker is started

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::vector<std::string> filled_in(std::vector<std::string> words, const NodeFacts& facts) {
  for (std::string& word : words) {
    replace_all(word, "{node}", facts.node);
    replace_all(word, "{job}", facts.job);
  }
  return words;
}

}  // namespace

std::string to_string(const NodeFacts& facts) {
  return facts.job.empty() ? "node " + facts.node : fmt::format("node {}, job {}", facts.node, facts.job);
}

Failure Fleet::failed(FailureKind kind, std::string message) {
  return {.kind = kind, .message = std::move(message), .phase = std::string(kLaunch), .log_tail = {}, .exit_status = {}, .signal = {}};
}

Fleet::Fleet(FleetOptions options)
    : options_(std::move(options)), token_(random_id()), pool_(make_process_pool(options_.cancel_fd)) {}

Fleet::~Fleet() {
  crew_ = nullptr;  // it is gone before us
  for (const auto& place : places_) give_back(*place);
  places_.clear();
  (void)remove_tree(options_.folder / "fleet");
}

// Made when first asked for, by the seat's own thread.
Fleet::Seat& Fleet::here() {
  const int number = crew_ == nullptr ? 0 : crew_->seat();
  const auto [found, is_new] = seats_.try_emplace(number);
  Seat& seat = found->second;
  if (!is_new) return seat;
  seat.hurried = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  seat.cancelled = Fd(::epoll_create1(EPOLL_CLOEXEC));  // readable when one of its own is
  for (const int descriptor : {seat.hurried.get(), options_.cancel_fd}) {
    if (descriptor < 0) continue;
    epoll_event event{.events = EPOLLIN, .data = {}};
    FIEL_CHECK(::epoll_ctl(seat.cancelled.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
  }
  seat.keepers = make_process_pool(seat.cancelled.get());
  return seat;
}

void Fleet::hurry(int seat) {
  const auto found = seats_.find(seat);
  const std::uint64_t one = 1;
  if (found != seats_.end()) (void)!::write(found->second.hurried.get(), &one, sizeof one);
}

bool Fleet::prepare() {
  const auto came = place();
  const auto* failure = std::get_if<Failure>(&came);
  if (failure != nullptr && failure->kind != FailureKind::kCancelled) say(fmt::format("one machine fewer: {}", failure->message));
  return failure == nullptr;
}

void Fleet::leave() {
  if (Place* place = here().place) give_back(*place);
}

void Fleet::give_back(Place& place) {
  if (place.lost) return;
  place.lost = true;  // whatever is asked of it now
  const auto answer = call(*place.keeper, {{"type", "bye"}}, kGiveBackSeconds);
  if (std::holds_alternative<Failure>(answer)) cancel_job(place);
}

Answer Fleet::call(Worker& worker, Json request, double deadline_seconds) {
  worker.begin(std::move(request), deadline_seconds);
  const Waiting waiting(baton());
  return worker.finish();
}

Answer Fleet::wait_there(Place& place, Worker& worker) {
  const double heartbeat = std::min(kHeartbeatSeconds, options_.patience_seconds);
  const auto answered = [&] {
    const Waiting waiting(baton());
    return worker.wait(heartbeat);
  };
  while (!answered()) {
    if (!ask(place, {{"type", "look"}})) return failed(FailureKind::kCrash, "its machine does not answer");
  }
  return worker.finish();
}

void Fleet::refuse(const std::string& why) {
  Place* const place = here().place;
  if (place == nullptr) return;
  say(fmt::format("{}: {}, given back", to_string(place->facts), why));
  ++here().workers_lost;
  give_back(*place);
}

void Fleet::bind(std::string cpu, std::int64_t cpu_count) { kind_ = Kind{.cpu = std::move(cpu), .cpu_count = cpu_count}; }

void Fleet::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

WorkerSpec Fleet::launched(std::vector<std::string> argv, const WorkerSpec& spec) const {
  argv.push_back(options_.node_program.string());
  return {.argv = std::move(argv),
          .environment = own_environment(),  // a launcher finds its way by it (SLURM_*, SSH_AUTH_SOCK, KUBECONFIG); fiel-node cleans it for workers
          .scratch = spec.scratch,
          .log = spec.log,
          .memory_limit_bytes = {},  // the launcher's own memory is no one's concern
          .cores = {},
          .confinement = {},  // it needs the network; what it starts is confined on its machine
          .least_grace_seconds = kLauncherGraceSeconds};
}

Json Fleet::needs() const {
  Json files = Json::array();
  for (const auto& file : options_.files) files.push_back(file.string());
  return {{"files", files}, {"token_file", (options_.folder / "fleet" / "token").string()}, {"token", token_}};
}

Failure Fleet::launch_failure(const std::vector<std::string>& words, Failure failure, double seconds) const {
  const std::string launcher = fmt::format("{}", fmt::join(words, " "));
  const std::string last_words = failure.log_tail.empty() ? "" : "; its last words: " + failure.log_tail;
  failure.phase = std::string(kLaunch);
  switch (failure.kind) {
    case FailureKind::kCancelled:
    case FailureKind::kUnsupported:  // fiel-node's own words: what the node lacks
      break;
    case FailureKind::kTimeout:
      failure.message = fmt::format("no answer within {} from what `{}` should start{}", format_duration(seconds), launcher, last_words);
      break;
    case FailureKind::kProtocol:
      failure.message = fmt::format("`{}` wrote on its standard output, which belongs to the workers ({})", launcher, failure.message);
      break;
    case FailureKind::kBuildError:
    case FailureKind::kOutOfMemory:
    case FailureKind::kCrash:
    case FailureKind::kEnvironment:
      failure.message = fmt::format("`{}` brought no worker up: {}{}", launcher, failure.message, last_words);
      break;
  }
  if (failure.kind != FailureKind::kCancelled) failure.kind = FailureKind::kEnvironment;
  return failure;
}

std::variant<std::unique_ptr<Place>, Failure> Fleet::open_place() {
  const auto folder = options_.folder / "fleet";
  for (const auto& need : {folder, options_.folder / "logs"}) {
    if (const auto made = ensure_folder(need); !made) return failed(FailureKind::kEnvironment, made.error().message);
  }
  if (const auto written = write_atomic(folder / "token", token_); !written) {
    return failed(FailureKind::kEnvironment, written.error().message);
  }
  auto place = std::make_unique<Place>();
  place->number = ++places_opened_;
  auto started = here().keepers->start(launched(options_.launcher, {.argv = {}, .environment = {}, .scratch = folder / fmt::format("{}", place->number),
                                                            .log = options_.folder / "logs" / "fleet.log", .memory_limit_bytes = {}, .cores = {}, .confinement = {}}));
  if (auto* failure = std::get_if<Failure>(&started)) return launch_failure(options_.launcher, std::move(*failure), options_.wait_seconds);
  place->keeper = std::get<std::unique_ptr<Worker>>(std::move(started));
  Json request = needs();
  request["type"] = "keep";
  auto answer = call(*place->keeper, std::move(request), options_.wait_seconds);
  if (auto* failure = std::get_if<Failure>(&answer)) return launch_failure(options_.launcher, std::move(*failure), options_.wait_seconds);
  auto facts = read_node_facts(std::get<Json>(answer));
  if (!facts) return failed(FailureKind::kEnvironment, "fiel-node is of another version: " + facts.error().message);
  place->facts = *std::move(facts);
  return place;
}

// Two seats on one machine would time each other.
bool Fleet::is_ours(const NodeFacts& facts) const {
  return std::ranges::any_of(places_, [&](const auto& one) { return !one->lost && one->facts.node == facts.node; });
}

std::variant<const Place*, Failure> Fleet::place() {
  if (here().place != nullptr && !here().place->lost) return here().place;
  std::string others;
  for (int attempt = 0; attempt < kMostPlaces; ++attempt) {
    say(fmt::format("waiting for a machine by `{}`, at most {}", fmt::join(options_.launcher, " "), format_duration(options_.wait_seconds)));
    auto opened = open_place();
    if (auto* failure = std::get_if<Failure>(&opened)) return std::move(*failure);
    auto place = std::get<std::unique_ptr<Place>>(std::move(opened));
    const NodeFacts& facts = place->facts;
    const std::string what = fmt::format("{}: {}, {} cores", to_string(facts), facts.cpu, facts.cpu_count);
    if (!kind_) kind_ = Kind{.cpu = facts.cpu, .cpu_count = facts.cpu_count};
    if (is_ours(facts)) {
      say(fmt::format("{}: ours already, given back", to_string(facts)));
      others += (others.empty() ? "" : "; ") + facts.node + " is ours already";
      give_back(*place);
      continue;
    }
    if (facts.cpu == kind_->cpu && facts.cpu_count == kind_->cpu_count) {
      say(what);
      here().place = place.get();
      places_.push_back(std::move(place));
      return here().place;
    }
    say(fmt::format("{}: of another kind than this run's, given back", what));
    others += (others.empty() ? "" : "; ") + what;
    give_back(*place);
  }
  return failed(FailureKind::kEnvironment,
                    fmt::format("this run is bound to machines with {} ({} cores), each to itself, and {} of {} would not do: {}; have the "
                                "launcher ask for whole machines of one kind (srun --exclusive --constraint=...)",
                                kind_->cpu, kind_->cpu_count, kMostPlaces, kMostPlaces, others));
}

std::optional<Json> Fleet::ask(Place& place, Json request) {
  if (place.lost) return std::nullopt;
  auto answer = call(*place.keeper, std::move(request), options_.patience_seconds);
  if (auto* json = std::get_if<Json>(&answer)) return std::move(*json);
  const Failure& failure = std::get<Failure>(answer);
  if (place.keeper->alive()) return Json::object();  // it only would not do this
  place.lost = true;
  if (failure.kind != FailureKind::kCancelled) say(fmt::format("{} is lost: {}", to_string(place.facts), failure.message));
  cancel_job(place);
  return std::nullopt;
}

// It may go on for whoever hands out machines, though its launcher was ended. That this fails is no news: then it was gone.
void Fleet::cancel_job(const Place& place) {
  if (options_.cancel.empty() || place.facts.job.empty()) return;
  (void)run_program(filled_in(options_.cancel, place.facts), {.timeout_seconds = kCancelSeconds, .environment = own_environment()});
}

MachineTimes Fleet::machine_times() {
  MachineTimes times;
  Place* const place = here().place;
  if (place == nullptr) return times;
  const auto answer = ask(*place, {{"type", "look"}, {"machine", true}});
  if (!answer) return times;
  times.own_cpu_seconds = get_number(*answer, "own_cpu_seconds").value_or(0);
  if (const auto now = get_number(*answer, "now_seconds")) times.now_seconds = *now;
  const auto found = answer->find("machine");
  if (found == answer->end()) return times;
  if (auto sample = read_machine_sample(*found)) times.machine = *sample;
  return times;
}

std::variant<std::unique_ptr<Worker>, Failure> Fleet::start(const WorkerSpec& spec) {
  for (int attempt = 1;; ++attempt) {
    auto came = place();
    if (auto* failure = std::get_if<Failure>(&came)) return std::move(*failure);
    Place& at = *here().place;
    auto joined = join(at, spec);
    auto* const failure = std::get_if<Failure>(&joined);
    if (failure == nullptr || failure->kind == FailureKind::kCancelled || attempt == kMostPlaces) return joined;
    // A machine that is gone can't be joined; one that is there and can't be joined is a launcher's or a file's fault.
    if (ask(at, {{"type", "look"}})) return joined;
    if (crew_ == nullptr || crew_->is_owner()) continue;
    ++here().workers_lost;  // another seat may well have a machine now
    failure->kind = FailureKind::kCrash;
    failure->phase = "start";
    return joined;
  }
}

std::variant<std::unique_ptr<Worker>, Failure> Fleet::join(Place& place, const WorkerSpec& spec) {
  const auto words = filled_in(options_.join, place.facts);
  auto started = pool_->start(launched(words, spec));
  if (auto* failure = std::get_if<Failure>(&started)) return launch_failure(words, std::move(*failure), kStartSeconds);
  auto inner = std::get<std::unique_ptr<Worker>>(std::move(started));
  Json request = needs();
  request["type"] = "start";
  request["argv"] = spec.argv;
  request["environment"] = spec.environment;
  request["folder"] = spec.scratch.string();
  request["cores"] = spec.cores;
  if (spec.confinement) {
    Json writable = Json::array({spec.scratch.string()});
    for (const auto& path : spec.confinement->writable) writable.push_back(path.string());
    request["confinement"] = {{"writable", writable}, {"network", spec.confinement->network == Network::kOpen}};
  }
  inner->begin(std::move(request), kStartSeconds);
  auto answer = wait_there(place, *inner);
  if (auto* failure = std::get_if<Failure>(&answer)) return launch_failure(words, std::move(*failure), kStartSeconds);
  const Json& told = std::get<Json>(answer);
  const auto facts = read_node_facts(told);
  const auto process = get_int(told, "process");
  if (!facts || !process) return failed(FailureKind::kEnvironment, "fiel-node is of another version");
  if (facts->node != place.facts.node) {
    return failed(FailureKind::kEnvironment,
                      fmt::format("`{}` led to node {}, not to {}: see [fleet] join", fmt::join(words, " "), facts->node, place.facts.node));
  }
  Json watch = {{"type", "watch"}, {"process", *process}};
  if (spec.memory_limit_bytes) watch["memory_limit_bytes"] = *spec.memory_limit_bytes;
  (void)ask(place, std::move(watch));
  return std::make_unique<FleetWorker>(*this, place, std::move(inner), *process);
}

}  // namespace fiel

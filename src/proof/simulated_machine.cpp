#include "proof/simulated_machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/rng.h"
#include "model/npy.h"
#include "protocol/channel.h"

namespace fiel {
namespace {

constexpr double kBaseSeconds = 0.02;  // of one inference of the default
constexpr double kLoadSeconds = 0.05;

// Where several machines work at once, time is where the first of those that wait for it wakes; it stands still while anybody works.
class Timeline {
 public:
  Timeline(Baton& baton, FakeClock& clock) : baton_(baton), clock_(clock) {
    baton_.when_idle([this] { return next(); });
  }

  void pass(double seconds) {
    Baton::Sleeper me;
    sleepers_.emplace(clock_.now_seconds() + seconds, &me);
    baton_.sleep(me);
  }

 private:
  Baton::Sleeper* next() {
    if (sleepers_.empty()) return nullptr;
    const auto [at_seconds, sleeper] = *sleepers_.begin();
    sleepers_.erase(sleepers_.begin());
    clock_.advance(at_seconds - clock_.now_seconds());
    return sleeper;
  }

  Baton& baton_;
  FakeClock& clock_;
  std::multimap<double, Baton::Sleeper*> sleepers_;
};

// What all processes share.
struct Shared {
  Shared(SimulatedMachine described, FakeClock& its_clock)
      : machine(std::move(described)), noise(machine.noise, machine.sigma, sub_seed(machine.seed, "machine")), clock(its_clock) {}
  SimulatedMachine machine;
  stats::NoisyMachine noise;
  FakeClock& clock;
  std::unique_ptr<Timeline> timeline = {};  // of several machines

  double next_log_factor() { return machine.recorded ? machine.recorded() : noise.next_timing(); }
  const SimulatedCandidate& candidate(const Json& settings) const {
    const std::string name = settings.value(std::string(kSimulatedKnob), machine.candidates.front().name);
    for (const SimulatedCandidate& one : machine.candidates) {
      if (one.name == name) return one;
    }
    return machine.candidates.front();
  }
};

std::array<float, 4> read_input(const Json& sample) {
  const Json& file = sample["inputs"]["x"];
  std::array<float, 4> x{};
  const Fd in(::open(file["file"].get_ref<const std::string&>().c_str(), O_RDONLY | O_CLOEXEC));
  FIEL_CHECK(in.is_open());
  FIEL_CHECK(::pread(in.get(), x.data(), sizeof x, file["offset"].get<std::int64_t>()) == sizeof x);
  return x;
}

class SimulatedWorker : public Worker {
 public:
  SimulatedWorker(std::shared_ptr<Shared> shared, std::filesystem::path scratch)
      : shared_(std::move(shared)), scratch_(std::move(scratch)), offset_(shared_->noise.start_process()) {}
  ~SimulatedWorker() override { (void)remove_tree(scratch_); }

  Answer call(Json request, double) override {
    Answer answer = answer_to(request);
    if (shared_->timeline) shared_->timeline->pass(std::exchange(spent_seconds_, 0));
    return answer;
  }

  Answer answer_to(const Json& request) {
    const std::string type = request["type"];
    if (type == "hello") return hello();
    if (type == "build") return build(request);
    if (type == "load") return load(request);
    if (type == "infer") return infer(request);
    if (type == "measure") return measure(request);
    return Json::object();
  }

  void begin(Json request, double) override { begun_ = std::move(request); }
  Answer finish() override { return call(*std::exchange(begun_, std::nullopt), 0); }
  bool wait(double) override { return true; }
  bool busy() const override { return begun_.has_value(); }
  void look() override {}

  void pause() override {}
  void resume() override {}
  WorkerUsage usage() override { return {.cpu_seconds = 0, .peak_memory_bytes = 1 << 20}; }
  const std::filesystem::path& scratch() const override { return scratch_; }
  bool alive() const override { return true; }

 private:
  Json hello() const {
    Json names = Json::array();
    for (const SimulatedCandidate& one : shared_->machine.candidates) names.push_back(one.name);
    return {{"protocol", kProtocolVersion},
            {"engine", kSimulatedEngine},
            {"version", "1"},
            {"devices", Json::array({{{"name", "CPU"}}})},
            {"capabilities", {"computed_time"}},
            {"knobs", Json::array({{{"name", kSimulatedKnob}, {"kind", "property"}, {"values", names},
                                    {"default", names[0]}, {"help", "which candidate this is"}}})}};
  }

  Json build(const Json& request) {
    const std::string name = shared_->candidate(request["settings"]).name;
    std::ofstream(std::filesystem::path(request["artifact_dir"].get<std::string>()) / "candidate") << name;
    spend(shared_->machine.build_seconds);
    return {{"build_seconds", shared_->machine.build_seconds}, {"graph_digest", name}};
  }

  Json load(const Json& request) {
    candidate_ = shared_->candidate(request["settings"]);
    spend(kLoadSeconds);
    return {{"load_seconds", kLoadSeconds},
            {"graph_digest", candidate_.name},
            {"inputs", Json::array({{{"name", "x"}, {"dtype", "float32"}, {"shape", {1, 4}}}})},
            {"outputs", Json::array({{{"name", "y"}, {"dtype", "float32"}, {"shape", {1, 2}}}})}};
  }

  // Which samples a candidate gets wrong is drawn anew for each machine, and is the same in all its processes.
  Json answer(const Json& sample, const std::filesystem::path& folder) const {
    const auto x = read_input(sample);
    const bool reference_is_right = x[2] > 0.5F;
    Rng rng(sub_seed(shared_->machine.seed, fmt::format("{}/{}", candidate_.name, x[1])));
    const double u = rng.uniform01();
    const bool differs = !candidate_.only_in_slice || static_cast<float>(*candidate_.only_in_slice) == x[3];
    const double chance = reference_is_right ? candidate_.chance_of_loss : candidate_.chance_of_win;
    const bool right = reference_is_right != (differs && u < chance);
    const std::size_t says = (x[0] > 0.5F) == right ? 1 : 0;
    Tensor y{.dtype = DType::kFloat32, .shape = {1, 2}, .bytes = std::vector<std::byte>(2 * sizeof(float))};
    const std::array<float, 2> scores = says == 1 ? std::array{0.1F, 0.9F} : std::array{0.9F, 0.1F};
    std::memcpy(y.bytes.data(), scores.data(), sizeof scores);
    const std::string file = fmt::format("{}.npy", sample["index"].get<int>());
    FIEL_CHECK(write_npy(folder / file, y.view()).has_value());
    return {{"index", sample["index"]}, {"files", {{"y", file}}}};
  }

  Json infer(const Json& request) {
    const std::filesystem::path folder = request["output_dir"].get<std::string>();
    Json outputs = Json::array();
    for (const Json& sample : request["samples"]) outputs.push_back(answer(sample, folder));
    spend(shared_->machine.infer_seconds);
    return {{"seconds", shared_->machine.infer_seconds}, {"outputs", std::move(outputs)}};
  }

  void spend(double seconds) {
    if (shared_->timeline) spent_seconds_ += seconds;  // passed at the end of the request
    else shared_->clock.advance(seconds);
  }

  double next_latency() {
    const double seconds = kBaseSeconds * std::exp(offset_ - candidate_.log_gain + shared_->next_log_factor());
    spend(seconds);
    return seconds;
  }

  Json measure(const Json& request) {
    Json warmup = Json::array();
    for (std::int64_t i = 0; i < request["warmup_count"].get<std::int64_t>(); ++i) warmup.push_back(next_latency());
    std::vector<double> latencies;
    double seconds = 0;
    const auto at_least = request["min_count"].get<std::size_t>();
    while (latencies.size() < at_least || seconds < request["min_seconds"].get<double>()) {
      latencies.push_back(next_latency());
      seconds += latencies.back();
    }
    std::ofstream file(request["latency_file"].get<std::string>(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(latencies.data()),
               static_cast<std::streamsize>(latencies.size() * sizeof(double)));
    const Json& samples = request["samples"];
    const Json& last = samples[(latencies.size() - 1) % samples.size()];
    return {{"count", latencies.size()},
            {"seconds", seconds},
            {"warmup_seconds", std::move(warmup)},
            {"outputs", Json::array({answer(last, request["output_dir"].get<std::string>())})}};
  }

  std::shared_ptr<Shared> shared_;
  std::filesystem::path scratch_;
  std::optional<Json> begun_ = {};
  double offset_;  // of this process, in log units
  double spent_seconds_ = 0;
  SimulatedCandidate candidate_ = {};
};

class SimulatedPool : public WorkerPool {
 public:
  SimulatedPool(const SimulatedMachine& machine, FakeClock& clock, Crew* crew) : shared_(std::make_shared<Shared>(machine, clock)) {
    if (crew != nullptr) shared_->timeline = std::make_unique<Timeline>(crew->baton(), clock);
  }

  std::variant<std::unique_ptr<Worker>, Failure> start(const WorkerSpec& spec) override {
    FIEL_CHECK(ensure_folder(spec.scratch).has_value());
    return std::make_unique<SimulatedWorker>(shared_, spec.scratch);
  }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

World simulated_world(const SimulatedMachine& machine) {
  auto clock = std::make_unique<FakeClock>();
  auto crew = machine.machines > 1 ? std::make_unique<Crew>(Crew::Options{.seats = machine.machines}) : nullptr;
  auto pool = std::make_unique<SimulatedPool>(machine, *clock, crew.get());
  return {.clock = std::move(clock), .pool = std::move(pool), .fleet = nullptr, .crew = std::move(crew)};
}

}  // namespace fiel

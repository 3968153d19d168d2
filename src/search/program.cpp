// program:COMMAND: another program proposes, in any language. Everything else stays as it is: what it proposes is built, judged and
// timed here, so that searches can be compared with nothing else changed. JSON lines on its standard input, answers on its output:
//
//   in   {"space": {"engines": [...]}, "start": ROUTE, "seed": 1}              once
//   in   {"ask": true}                      out  {"engine": "a", "settings": {"K": "1"}}   or {"end": true}
//   in   {"tell": {"engine": ..., "settings": ..., "outcome": "admissible", "log_speedup": 0.1, "seconds": 2}}
//
// What it proposes again is told again at once, for nothing; what is forbidden is told as "forbidden"; after kFreeAnswers in a row
// one route is drawn by chance. A resumed run asks everything anew: the program has to be as deterministic as we are.
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "search/strategies.h"

namespace fiel {
namespace {

constexpr int kFreeAnswers = 20;
constexpr double kAnswerSeconds = 300;
constexpr double kGraceSeconds = 1;
constexpr std::size_t kMostBytes = 1 << 20;  // of an answer

Json route_json(const BuildRoute& route) { return {{"engine", route.engine}, {"settings", route.settings}}; }

Json space_json(const Space& space) {
  Json engines = Json::array();
  for (const EngineSpace& engine : space.engines()) {
    Json knobs = Json::array(), forbidden = Json::array();
    for (const Knob& knob : engine.knobs) {
      Json conditions = Json::array();
      for (const Condition& condition : knob.only_if) conditions.push_back({{"knob", condition.knob}, {"values", condition.values}});
      knobs.push_back({{"name", knob.name}, {"values", knob.values}, {"default", knob.default_value}, {"only_if", conditions}});
    }
    for (const Forbidden& clause : engine.forbidden) forbidden.push_back(clause.settings);
    engines.push_back({{"engine", engine.engine}, {"knobs", knobs}, {"forbidden", forbidden}});
  }
  return {{"engines", engines}};
}

class Program : public Strategy {
 public:
  Program(const Space& space, std::uint64_t seed, std::string command, Child child)
      : space_(space), command_(std::move(command)), child_(std::move(child)), random_(make_random(space, seed)) {}

  std::string_view name() const override { return "program"; }

  std::optional<BuildRoute> ask() override {
    for (int answers = 0; !trouble_ && answers < kFreeAnswers; ++answers) {
      auto proposed = propose();
      if (!proposed) {
        trouble_ = std::move(proposed).error();
        return std::nullopt;
      }
      if (!*proposed) return std::nullopt;
      const BuildRoute route = space_.canonical(**proposed);
      if (!space_.validate(route)) {
        send({{"tell", {{"engine", route.engine}, {"settings", route.settings}, {"outcome", "forbidden"}, {"log_speedup", nullptr}, {"seconds", nullptr}}}});
        continue;
      }
      const auto [known, is_new] = asked_.try_emplace(route);
      if (is_new) return route;
      if (known->second) send(*known->second);
    }
    while (auto route = trouble_ ? std::nullopt : random_->ask()) {
      if (asked_.try_emplace(*route).second) return route;
    }
    return std::nullopt;
  }

  void tell(const Trial& trial) override {
    Json told = route_json(trial.route);
    told["outcome"] = to_string(trial.outcome);
    told["log_speedup"] = trial.log_speedup ? Json(*trial.log_speedup) : Json();
    told["seconds"] = trial.seconds ? Json(*trial.seconds) : Json();
    send(*(asked_[trial.route] = Json{{"tell", told}}));
  }

  std::optional<double> planned() const override { return std::nullopt; }

  Result<> trouble() const override { return trouble_ ? Result<>(std::unexpected(*trouble_)) : Result<>(); }

  void send(const Json& json) { unsent_ += dump_json(json) + "\n"; }

 private:
  /// Nothing: it wants to end.
  Result<std::optional<BuildRoute>> propose() {
    send({{"ask", true}});
    const Json answer = FIEL_TRY(parse_json(FIEL_TRY(line())));
    if (answer.is_object() && answer.contains("end")) return std::nullopt;
    BuildRoute route{.engine = FIEL_TRY(get_string(answer, "engine")), .settings = {}};
    for (const auto& [knob, value] : object_or_empty(answer, "settings").items()) {
      route.settings[knob] = value.is_string() ? value.get<std::string>() : dump_json(value);
    }
    return route;
  }

  Result<std::string> line() {
    const double until = steady_seconds() + kAnswerSeconds;
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      const double left = until - steady_seconds();
      if (!(left > 0)) return failed(ErrorKind::kTimeout, fmt::format("did not answer within {} s", kAnswerSeconds));
      if (received_.size() > kMostBytes) return failed(ErrorKind::kProtocol, "answered without an end of line");
      std::array<pollfd, 2> watched{{{child_.output().get(), POLLIN, 0}, {unsent_.empty() ? -1 : child_.input().get(), POLLOUT, 0}}};
      ::poll(watched.data(), watched.size(), static_cast<int>(1e3 * left) + 1);
      std::string_view rest = unsent_;
      const Flow written = rest.empty() ? Flow::kOpen : write_available(child_.input(), rest);
      unsent_.erase(0, unsent_.size() - rest.size());
      const Flow read = read_available(child_.output(), received_, kMostBytes);
      if ((written == Flow::kClosed || read == Flow::kClosed) && received_.find('\n') == std::string::npos) {
        return failed(ErrorKind::kDied, fmt::format("ended ({})", fiel::to_string(child_.end(kGraceSeconds))));
      }
    }
    std::string text = received_.substr(0, end);
    received_.erase(0, end + 1);
    return text;
  }

  std::unexpected<Error> failed(ErrorKind kind, const std::string& what) const {
    return fail(kind, fmt::format("the program that proposes ({}) {}", command_, what), "try it by hand: docs/adding-a-strategy.md shows what it is sent");
  }

  Space space_;
  std::string command_;
  Child child_;
  std::unique_ptr<Strategy> random_;
  std::map<BuildRoute, std::optional<Json>> asked_;  // with what was told
  std::string unsent_, received_;
  std::optional<Error> trouble_;
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_program(const Space& space, const BuildRoute& baseline, std::uint64_t seed, std::string_view command) {
  Child child = FIEL_TRY(Child::start({.argv = {"sh", "-c", std::string(command)}, .error_log = "/dev/stderr"}));
  auto program = std::make_unique<Program>(space, seed, std::string(command), std::move(child));
  const auto start = starts(space, baseline);
  program->send({{"space", space_json(space)}, {"start", start.empty() ? Json() : route_json(start.front())}, {"seed", seed}});
  return program;
}

}  // namespace fiel

// mixed: first as fast, then the product of what helped. Knobs rarely help alone and hurt together,
// but how much they help together no single change can tell.
//   1  the starts; then all their one-knob changes in turns, the fastest start's first, but for values that stand in for others
//   2  a value that stands in for another (Knob::stand_ins), where that other one was rejected, or is faster than the start
//   3  where a start turned out not to be admissible (an engine's default can be too imprecise),
//   its
//      best admissible change takes its place, and the one-knob changes of that follow
//   4  per start, knobs that do not count there but do with a value that helped (single nodes beside a step of the precision
//   ladder): each of their values, beside the fastest such value
//   5  per start, the product over the knobs that helped: the values that are admissible so far and
//      more than 1 % faster than the start, and the start's own; combinations whose single gains
//      add up to most come first, in whatever engine. A stand-in takes part where what it stands in for was rejected
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "search/strategies.h"

namespace fiel {
namespace {

// The combinations of one start's helpful values, best first, without listing them all.
class Product {
 public:
  struct Option {
    std::string value;
    double gain;  // log speedup over the start
  };
  struct Turn {
    std::string knob;
    std::vector<Option> options;  // best first; the start's own value, with gain 0, is last
  };

  Product(BuildRoute start, double start_speedup, std::vector<Turn> turns)
      : start_(std::move(start)), start_speedup_(start_speedup), turns_(std::move(turns)) {
    push(Positions(turns_.size(), 0));
  }

  double size() const {
    double size = 1.0;
    for (const Turn& turn : turns_) size *= static_cast<double>(turn.options.size());
    return size;
  }

  /// Sum of the best remaining combination's gains; nothing when all have been popped.
  std::optional<double> best() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.top().first;
  }

  /// The best remaining combination, not checked against the space.
  BuildRoute pop() {
    const Positions positions = heap_.top().second;
    heap_.pop();
    BuildRoute route = start_;
    for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
      const auto option = static_cast<std::size_t>(positions[turn]);
      route.settings[turns_[turn].knob] = turns_[turn].options[option].value;
      Positions next = positions;
      if (++next[turn] < static_cast<int>(turns_[turn].options.size())) push(std::move(next));
    }
    return route;
  }

 private:
  using Positions = std::vector<int>;  // option number per turn

  void push(Positions positions) {
    if (!pushed_.insert(positions).second) return;
    double sum = start_speedup_;
    for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
      sum += turns_[turn].options[static_cast<std::size_t>(positions[turn])].gain;
    }
    heap_.emplace(sum, std::move(positions));
  }

  BuildRoute start_;
  double start_speedup_;
  std::vector<Turn> turns_;
  std::priority_queue<std::pair<double, Positions>> heap_;
  std::set<Positions> pushed_;
};

class Mixed : public Strategy {
 public:
  Mixed(const Space& space, const BuildRoute& baseline)
      : space_(space), starts_(starts(space, baseline)) {
    for (const BuildRoute& start : starts_) enqueue(start);
  }

  std::string_view name() const override { return "mixed"; }

  std::optional<BuildRoute> ask() override {
    if (queue_.empty() && stage_ == Stage::kStarts) {
      std::ranges::stable_sort(starts_, std::ranges::greater{}, [this](const BuildRoute& start) { return speedup(start); });
      enqueue_changes(starts_);
      stage_ = Stage::kOneKnob;
    }
    if (queue_.empty() && stage_ == Stage::kOneKnob) {
      for (const BuildRoute& start : starts_) enqueue_stand_ins(start);
      stage_ = Stage::kStandIns;
    }
    if (queue_.empty() && stage_ == Stage::kStandIns) {
      replace_bad_starts();
      stage_ = Stage::kReplaced;
    }
    if (queue_.empty() && stage_ == Stage::kReplaced) {
      for (const BuildRoute& start : starts_) enqueue_deeper(start);
      stage_ = Stage::kDeeper;
    }
    if (!queue_.empty()) {
      BuildRoute route = std::move(queue_.front());
      queue_.pop_front();
      return route;
    }
    if (stage_ == Stage::kDeeper) {
      for (const BuildRoute& start : starts_) products_.push_back(product_of(start));
      stage_ = Stage::kProduct;
    }
    return next_of_products();
  }

  void tell(const Trial& trial) override { trials_[trial.route] = trial; }

  std::optional<double> planned() const override {
    if (stage_ != Stage::kProduct) return std::nullopt;
    double left = -static_cast<double>(popped_);
    for (const Product& product : products_) left += product.size();
    return left;
  }

 private:
  enum class Stage { kStarts, kOneKnob, kStandIns, kReplaced, kDeeper, kProduct };

  void enqueue(const BuildRoute& route) {
    if (known_.insert(route).second) queue_.push_back(route);
  }

  // One engine's changes and another's in turn, so that a short budget sees some of each.
  void enqueue_changes(std::span<const BuildRoute> routes) {
    std::vector<std::vector<BuildRoute>> changes;
    for (const BuildRoute& route : routes) changes.push_back(space_.neighbours(route));
    for (const BuildRoute& change : in_turns(changes)) {
      if (!stands_in(change)) enqueue(change);
    }
  }

  bool stands_in(const BuildRoute& route) const {
    const EngineSpace* engine = space_.find_engine(route.engine);
    return std::ranges::any_of(engine->knobs, [&](const Knob& knob) {
      const auto set = route.settings.find(knob.name);
      return set != route.settings.end() && original(knob, set->second) != nullptr;
    });
  }

  // What a value stands in for, where this (restricted) space has it.
  static const std::string* original(const Knob& knob, const std::string& value) {
    const auto found = knob.stand_ins.find(value);
    if (found == knob.stand_ins.end()) return nullptr;
    return std::ranges::find(knob.values, found->second) == knob.values.end() ? nullptr : &found->second;
  }

  // The trial of `start` with this value in place of its own; null: there was none.
  const Trial* trial_with(const BuildRoute& start, const std::string& knob, const std::string& value) const {
    BuildRoute changed = start;
    changed.settings[knob] = value;
    const auto found = trials_.find(space_.canonical(std::move(changed)));
    return found == trials_.end() ? nullptr : &found->second;
  }

  void enqueue_stand_ins(const BuildRoute& start) {
    for (const Knob& knob : space_.find_engine(start.engine)->knobs) {
      for (const std::string& value : knob.values) {
        const std::string* of = original(knob, value);
        if (of == nullptr || !pays(start, trial_with(start, knob.name, *of))) continue;
        BuildRoute changed = start;
        changed.settings[knob.name] = value;
        changed = space_.canonical(std::move(changed));
        if (space_.validate(changed)) enqueue(changed);
      }
    }
  }

  bool pays(const BuildRoute& start, const Trial* trial) const {
    if (trial == nullptr) return false;
    if (trial->outcome == Trial::Outcome::kRejected) return true;
    return trial->outcome == Trial::Outcome::kAdmissibleSoFar && trial->log_speedup &&
           *trial->log_speedup - speedup(start) > kLeastGain;
  }

  // The route with this too; nothing where the knob does not count there.
  std::optional<BuildRoute> with(BuildRoute route, const std::string& knob, const std::string& value) const {
    route.settings[knob] = value;
    route = space_.canonical(std::move(route));
    return route.settings.contains(knob) && space_.validate(route) ? std::optional(std::move(route)) : std::nullopt;
  }

  void enqueue_deeper(const BuildRoute& start) {
    const std::vector<Knob>& knobs = space_.find_engine(start.engine)->knobs;
    for (const Knob& deep : knobs) {
      const Trial* best = nullptr;
      std::vector<BuildRoute> beside;
      for (const Condition& condition : deep.only_if) {
        for (const std::string& value : condition.values) {
          const Trial* trial = trial_with(start, condition.knob, value);
          if (trial == nullptr || trial->route == start || !pays(start, trial) || admissible(trial->route) == nullptr) continue;
          if (best != nullptr && *trial->log_speedup <= *best->log_speedup) continue;
          std::vector<BuildRoute> now;
          for (const std::string& one : deep.values) {
            if (auto route = with(trial->route, deep.name, one); route && !with(start, deep.name, one)) now.push_back(std::move(*route));
          }
          if (now.empty()) continue;
          best = trial;
          beside = std::move(now);
        }
      }
      for (const BuildRoute& route : beside) enqueue(route);
    }
  }

  const Trial* admissible(const BuildRoute& route) const {
    const auto found = trials_.find(route);
    if (found == trials_.end()) return nullptr;
    return found->second.outcome == Trial::Outcome::kAdmissibleSoFar ? &found->second : nullptr;
  }

  double speedup(const BuildRoute& route) const {
    const auto found = trials_.find(route);
    return found == trials_.end() ? 0.0 : found->second.log_speedup.value_or(0.0);
  }

  void replace_bad_starts() {
    for (BuildRoute& start : starts_) {
      if (!trials_.contains(start) || admissible(start) != nullptr) continue;
      const Trial* best = nullptr;
      for (const BuildRoute& neighbour : space_.neighbours(start)) {
        const Trial* trial = admissible(neighbour);
        if (trial == nullptr || !trial->log_speedup) continue;
        if (best == nullptr || *trial->log_speedup > *best->log_speedup) best = trial;
      }
      if (best == nullptr) continue;
      start = best->route;
      enqueue_changes({&start, 1});
    }
  }

  Product product_of(const BuildRoute& start) const {
    std::vector<Product::Turn> turns;
    for (const Knob& knob : space_.find_engine(start.engine)->knobs) {
      Product::Turn turn{.knob = knob.name, .options = {}};
      const std::string own = setting_or(start, knob.name, knob.default_value);
      for (const std::string& value : knob.values) {
        if (value == own) continue;
        const Trial* trial = trial_with(start, knob.name, value);
        if (trial == nullptr || trial->outcome != Trial::Outcome::kAdmissibleSoFar) continue;
        if (!trial->log_speedup || trial->route == start) continue;
        if (const std::string* of = original(knob, value)) {
          const Trial* first = trial_with(start, knob.name, *of);
          if (first != nullptr && first->outcome == Trial::Outcome::kAdmissibleSoFar) continue;
        }
        const double gain = *trial->log_speedup - speedup(start);
        if (gain > kLeastGain) turn.options.push_back({value, gain});
      }
      if (turn.options.empty()) continue;
      std::ranges::stable_sort(turn.options, std::ranges::greater{}, &Product::Option::gain);
      turn.options.push_back({own, 0.0});
      turns.push_back(std::move(turn));
    }
    return Product(start, speedup(start), std::move(turns));
  }

  std::optional<BuildRoute> next_of_products() {
    for (;;) {
      Product* best = nullptr;
      for (Product& product : products_) {
        if (product.best() && (best == nullptr || *product.best() > *best->best())) best = &product;
      }
      if (best == nullptr) return std::nullopt;
      const BuildRoute route = space_.canonical(best->pop());
      ++popped_;
      if (space_.validate(route) && known_.insert(route).second) return route;
    }
  }

  Space space_;
  std::vector<BuildRoute> starts_;
  Stage stage_ = Stage::kStarts;
  std::deque<BuildRoute> queue_;
  std::set<BuildRoute> known_;
  std::map<BuildRoute, Trial> trials_;
  std::vector<Product> products_;
  std::int64_t popped_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_mixed(const Space& space, const BuildRoute& baseline) {
  return std::make_unique<Mixed>(space, baseline);
}

}  // namespace fiel

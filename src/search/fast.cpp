// fast: the baseline, the other engines' defaults, and every change of one knob, engine by engine in turn. Cheap and blind to knobs that only help together
// (methodology C2: 9.2 % mean regret on a space of compiler flags, where `mixed` has 1.8 %).
#include <deque>
#include <set>
#include <utility>

#include "search/strategies.h"

namespace fiel {
namespace {

class Fast : public Strategy {
 public:
  Fast(const Space& space, const BuildRoute& baseline) {
    std::set<BuildRoute> known;
    const auto add = [&](BuildRoute route) {
      if (known.insert(route).second) queue_.push_back(std::move(route));
    };
    std::vector<std::vector<BuildRoute>> changes;
    for (const BuildRoute& start : starts(space, baseline)) {
      add(start);
      changes.push_back(space.neighbours(start));
    }
    for (BuildRoute& change : in_turns(changes)) add(std::move(change));
  }

  std::string_view name() const override { return "fast"; }

  std::optional<BuildRoute> ask() override {
    if (queue_.empty()) return std::nullopt;
    BuildRoute route = std::move(queue_.front());
    queue_.pop_front();
    return route;
  }

  void tell(const Trial&) override {}

  std::optional<double> planned() const override { return static_cast<double>(queue_.size()); }

 private:
  std::deque<BuildRoute> queue_;
};

}  // namespace

std::unique_ptr<Strategy> make_fast(const Space& space, const BuildRoute& baseline) {
  return std::make_unique<Fast>(space, baseline);
}

}  // namespace fiel

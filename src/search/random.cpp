// random: each route equally likely, none twice. n draws hold one of the best q of the space with
// probability 1 - (1-q)^n (59 draws: one of the best 5 % at 95 %), whatever the knobs do together.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "route/sampler.h"
#include "search/strategies.h"

namespace fiel {
namespace {

// Up to this many routes the whole space is shuffled; in larger ones draws hardly ever repeat.
constexpr double kMostShuffled = 16384.0;
constexpr int kMostRepeats = 10'000;

class Random : public Strategy {
 public:
  Random(const Space& space, std::uint64_t seed)
      : space_(space), sampler_(space_), rng_(seed), size_(sampler_.size()) {
    if (size_ > kMostShuffled) return;
    space_.enumerate([&](const BuildRoute& route) {
      shuffled_.push_back(route);
      return true;
    });
    rng_.shuffle(std::span(shuffled_));
    size_ = static_cast<double>(shuffled_.size());
  }
  Random(const Random&) = delete;  // sampler_ refers to space_
  Random& operator=(const Random&) = delete;

  std::string_view name() const override { return "random"; }

  std::optional<BuildRoute> ask() override {
    if (size_ <= kMostShuffled) {
      if (asked_count_ == shuffled_.size()) return std::nullopt;
      return shuffled_[asked_count_++];
    }
    for (int repeat = 0; repeat < kMostRepeats; ++repeat) {
      BuildRoute route = sampler_.draw(rng_);
      if (!asked_.insert(route).second) continue;
      ++asked_count_;
      return route;
    }
    return std::nullopt;
  }

  UniformDraws uniform_draws() const override {
    if (size_ <= kMostShuffled) return {.asked = {shuffled_.begin(), shuffled_.begin() + static_cast<std::ptrdiff_t>(asked_count_)}};
    return {.asked = {asked_.begin(), asked_.end()}};
  }

  void tell(const Trial&) override {}

  std::optional<double> planned() const override {
    return std::max(0.0, size_ - static_cast<double>(asked_count_));
  }

 private:
  Space space_;
  RouteSampler sampler_;
  Rng rng_;
  double size_;
  std::vector<BuildRoute> shuffled_;
  std::set<BuildRoute> asked_;
  std::size_t asked_count_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed) {
  return std::make_unique<Random>(space, seed);
}

}  // namespace fiel

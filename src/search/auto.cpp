// auto: for now, full where the space has at most 64 routes (a candidate takes seconds, so that is
// minutes); otherwise mixed, and random routes once it has nothing left to ask.
#include <algorithm>
#include <set>
#include <vector>

#include "search/strategies.h"

namespace fiel {
namespace {

constexpr double kMostWalkedInFull = 64.0;

class Auto : public Strategy {
 public:
  Auto(const Space& space, const BuildRoute& baseline, std::uint64_t seed) : size_(space.size()) {
    if (size_ <= kMostWalkedInFull) {
      stages_.push_back(make_full(space));
    } else {
      stages_.push_back(make_mixed(space, baseline));
      stages_.push_back(make_random(space, seed));
    }
  }

  std::string_view name() const override { return "auto"; }

  std::optional<BuildRoute> ask() override {
    for (const auto& stage : stages_) {
      while (auto route = stage->ask()) {
        if (asked_.insert(*route).second) return route;
      }
    }
    return std::nullopt;
  }

  void tell(const Trial& trial) override {
    for (const auto& stage : stages_) stage->tell(trial);
  }

  std::optional<double> planned() const override {
    return std::max(0.0, size_ - static_cast<double>(asked_.size()));
  }

 private:
  double size_;
  std::vector<std::unique_ptr<Strategy>> stages_;
  std::set<BuildRoute> asked_;
};

}  // namespace

std::unique_ptr<Strategy> make_auto(const Space& space, const BuildRoute& baseline,
                                    std::uint64_t seed) {
  return std::make_unique<Auto>(space, baseline, seed);
}

}  // namespace fiel

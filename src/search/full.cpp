// full: the Cartesian product. Right for small spaces, and the only strategy that can say that
// nothing better exists.
#include "route/sampler.h"
#include "route/walk.h"
#include "search/strategies.h"

namespace fiel {
namespace {

class Full : public Strategy {
 public:
  explicit Full(const Space& space) : space_(space), walk_(space_), left_(space_.size()) {}
  Full(const Full&) = delete;  // walk_ refers to space_
  Full& operator=(const Full&) = delete;

  std::string_view name() const override { return "full"; }

  std::optional<BuildRoute> ask() override {
    auto route = walk_.next();
    left_ = route ? left_ - 1.0 : 0.0;
    return route;
  }

  void tell(const Trial&) override {}

  std::optional<double> planned() const override { return left_; }

 private:
  Space space_;
  RouteWalk walk_;
  double left_;
};

}  // namespace

std::unique_ptr<Strategy> make_full(const Space& space) { return std::make_unique<Full>(space); }

}  // namespace fiel

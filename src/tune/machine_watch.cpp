#include "tune/machine_watch.h"

#include <fmt/format.h>
#include <poll.h>

#include <cmath>

#include "base/interrupt.h"

namespace fiel {

MachineWatch::MachineWatch() : started_at_(clock_.now_seconds()), before_(look_at_machine()) {}

Result<std::vector<MachineFact>> MachineWatch::facts(double least_seconds, int cancel_fd) const {
  const double left = least_seconds - (clock_.now_seconds() - started_at_);
  pollfd cancelled{.fd = cancel_fd, .events = POLLIN, .revents = 0};
  if (left > 0) ::poll(&cancelled, 1, static_cast<int>(std::ceil(1000 * left)));
  if (is_cancelled(cancel_fd)) return fail(ErrorKind::kCancelled, "interrupted");
  const MachineLook after = look_at_machine();
  auto facts = check_machine({}, {.before = before_, .after = after, .seconds = clock_.now_seconds() - started_at_});
  facts.push_back(confinement_fact(kernel_guards()));
  return facts;
}

void tell_about(const std::vector<MachineFact>& facts, ProgressSink& progress) {
  std::string better;
  for (const MachineFact& fact : facts) {
    if (fact.mark == Mark::kBad) {
      progress.warn(fmt::format("this machine, {}: {}; {}", fact.label, fact.value, fact.advice));
    }
    if (fact.mark == Mark::kCouldBeBetter) better += (better.empty() ? "" : ", ") + fact.label;
  }
  if (!better.empty()) progress.step(fmt::format("this machine could be better for measuring: {} (see `fiel doctor`)", better));
}

}  // namespace fiel

// What confinement adds to the start of a process: `true`, run confined and not, in turn. bench/confinement prints what comes out.
//
//   confined_start COUNT     prints the two medians and their difference, in microseconds
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "base/subprocess.h"

namespace {

double microseconds_of(const fiel::ProgramOptions& options) {
  const double start = fiel::steady_seconds();
  const auto result = fiel::run_program({"/bin/true"}, options);
  if (!result || !result->exit.is_success()) std::exit(1);
  return 1e6 * (fiel::steady_seconds() - start);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 300;
  const auto folder = fiel::TempFolder::create({}, "fiel-confined-start-").value();
  std::vector<double> open, confined, more;
  for (int i = 0; i < count; ++i) {
    open.push_back(microseconds_of({}));
    confined.push_back(microseconds_of({.confinement = fiel::Confinement{.writable = {folder.path()}}}));
    more.push_back(confined.back() - open.back());
  }
  fmt::print("{:.0f} {:.0f} {:.0f}\n", median(open), median(confined), median(more));
}

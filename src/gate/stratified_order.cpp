// In which order to look at a set, so that every beginning of it is a small copy of the whole.
#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "gate/gate.h"

namespace fiel {

// Within a slice the order is random; the k-th of a slice of n lies at (k + u) / n of the way, with one random u in [0, 1)
// for the slice. So a share s of the way holds s n of each slice, give or take one. The first of each slice moves
// to the front, so that even a short probe sees every slice.
std::vector<int> stratified_order(const SampleSet& set, std::uint64_t seed) {
  std::map<std::string, std::vector<int>> slices;
  for (std::size_t i = 0; i < set.samples.size(); ++i) slices[set.samples[i].slice].push_back(static_cast<int>(i));
  Rng rng(seed);
  std::vector<double> way(set.samples.size());
  for (auto& [name, members] : slices) {
    rng.shuffle(std::span(members));
    const double shift = rng.uniform01();
    const auto count = static_cast<double>(members.size());
    for (std::size_t k = 0; k < members.size(); ++k) {
      const double at = (static_cast<double>(k) + shift) / count;
      way[static_cast<std::size_t>(members[k])] = k == 0 ? shift - 1 : at;
    }
  }
  std::vector<int> order(set.samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&way](int i) { return way[static_cast<std::size_t>(i)]; });
  return order;
}

}  // namespace fiel

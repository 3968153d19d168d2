#include "decide/ladder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fiel {
namespace {

// Of all work, shared by all nodes: also a node that computes next to nothing costs a conversion where its neighbours have 8 bits.
constexpr double kConversions = 0.1;
constexpr double kLastStep = 0.75;  // of all nodes: with fewer in 8 bits there is little to gain

}  // namespace

std::vector<double> work_of(std::span<const double> products, std::span<const std::optional<double>> seconds) {
  double timed = 0, timed_products = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (!seconds[i]) continue;
    timed += *seconds[i];
    timed_products += products[i];
  }
  if (!(timed > 0 && timed_products > 0)) return {products.begin(), products.end()};
  std::vector<double> work;
  for (std::size_t i = 0; i < products.size(); ++i) work.push_back(seconds[i].value_or(products[i] * timed / timed_products));
  return work;
}

std::vector<NodeCost> float_order(std::vector<NodeCost> nodes) {
  double all = 0;
  for (const NodeCost& node : nodes) all += node.work;
  const double conversion = kConversions * (all > 0 ? all : 1) / std::max(1.0, static_cast<double>(nodes.size()));
  const auto density = [&](const NodeCost& node) { return node.loss / (node.work + conversion); };
  std::ranges::stable_sort(nodes, std::ranges::greater{}, density);
  return nodes;
}

std::vector<int> ladder_steps(int nodes) {
  std::vector<int> steps;
  const double last = kLastStep * nodes;
  for (int i = 0; i < kMostSteps; ++i) {
    const int step = static_cast<int>(std::lround(std::pow(std::max(1.0, last), static_cast<double>(i) / (kMostSteps - 1))));
    if (step < nodes && (steps.empty() || step > steps.back())) steps.push_back(step);
  }
  return steps;
}

std::vector<std::size_t> likeliest_first(std::span<const double> noise) {
  std::vector<std::size_t> forwards(noise.size());
  std::iota(forwards.begin(), forwards.end(), std::size_t{0});
  std::vector<std::size_t> by_noise = forwards;
  std::ranges::stable_sort(by_noise, std::ranges::greater{}, [&](std::size_t i) { return noise[i]; });
  std::vector<std::size_t> backwards(forwards.rbegin(), forwards.rend());
  std::vector<std::size_t> order;
  std::vector<bool> taken(noise.size());
  for (std::size_t k = 0; k < noise.size(); ++k) {
    for (const auto* list : {&forwards, &by_noise, &backwards}) {
      const std::size_t i = (*list)[k];
      if (!taken[i]) order.push_back(i);
      taken[i] = true;
    }
  }
  return order;
}

std::vector<std::string> by_work(std::span<const NodeCost> order, int floats) {
  std::vector<NodeCost> some(order.begin(), order.begin() + std::min<std::ptrdiff_t>(floats, std::ssize(order)));
  std::ranges::stable_sort(some, std::ranges::greater{}, &NodeCost::work);
  std::vector<std::string> names;
  for (const NodeCost& node : some) names.push_back(node.name);
  return names;
}

}  // namespace fiel

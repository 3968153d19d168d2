#include "decide/nominees.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "decide/variants.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kMoreToSpare = 0.05;  // of the margin: less than that is no difference
constexpr int kMostTwins = 3;
const double kIndistinct = std::log(1.03);

bool asks_less(const BuildRoute& plain, const BuildRoute& route) {
  return plain.engine == route.engine && plain.settings.size() < route.settings.size() &&
         std::ranges::includes(route.settings, plain.settings);
}

bool told_apart(const Finalist& faster, const Finalist& plain) {
  if (faster.log_ratios.empty() || faster.log_ratios.size() != plain.log_ratios.size()) return true;
  bool always = true;
  for (std::size_t i = 0; i < plain.log_ratios.size(); ++i) always = always && faster.log_ratios[i] > plain.log_ratios[i];
  return always || stats::median(faster.log_ratios) - stats::median(plain.log_ratios) > kIndistinct;
}

}  // namespace

std::vector<Finalist> without_idle_settings(std::span<const Finalist> order, std::span<const Finalist> raced) {
  std::vector<Finalist> plainest;
  for (const Finalist& one : order) {
    const Finalist* best = &one;
    for (const Finalist& other : raced) {
      if (asks_less(other.route, best->route) && other.to_spare > one.to_spare - kMoreToSpare && !told_apart(one, other)) {
        best = &other;
      }
    }
    const auto same = [&](const Finalist& taken) { return taken.id == best->id; };
    if (std::ranges::none_of(plainest, same)) plainest.push_back(*best);
  }
  return plainest;
}

bool answer_alike(const BuildRoute& a, const BuildRoute& b) {
  const auto same = [&](std::string_view knob) { return setting_or(a, knob, "") == setting_or(b, knob, ""); };
  return a.engine == b.engine && same(kVariantKnob) && same(kAgainKnob);
}

std::vector<int> twins_last(std::span<const Finalist> fastest_first) {
  std::vector<int> first, last;
  for (std::size_t i = 0; i < fastest_first.size(); ++i) {
    const auto twins = std::ranges::count_if(fastest_first.first(i), [&](const Finalist& faster) { return answer_alike(faster.route, fastest_first[i].route); });
    (twins < kMostTwins ? first : last).push_back(fastest_first[i].id);
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

std::vector<int> choose_nominees(std::span<const Finalist> order) {
  std::vector<int> nominees;
  std::vector<Finalist> taken;
  std::vector<Finalist> left(order.begin(), order.end());
  double most_to_spare = 0;
  while (std::ssize(nominees) < kMaxNominees && !left.empty()) {
    auto next = left.begin();
    if (!nominees.empty()) {
      const auto safer = std::ranges::find_if(
          left, [&](const Finalist& one) { return one.to_spare > most_to_spare + kMoreToSpare; });
      const auto unlike = std::ranges::find_if(left, [&](const Finalist& one) {
        return std::ranges::none_of(taken, [&](const Finalist& other) { return answer_alike(one.route, other.route); });
      });
      if (unlike != left.end()) next = unlike;
      if (safer != left.end()) next = safer;
    }
    most_to_spare = nominees.empty() ? next->to_spare : std::max(most_to_spare, next->to_spare);
    nominees.push_back(next->id);
    taken.push_back(*next);
    left.erase(next);
  }
  return nominees;
}

}  // namespace fiel

#include "proof/finding.h"

#include <fmt/format.h>

#include "stats/distributions.h"

namespace fiel {
namespace {

constexpr double kBoundError = 0.05;  // of each bound
constexpr int kEnoughToShow = 300;    // runs: a rate of 2.5 % is then shown to be below 5 %

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

double Share::upper() const { return stats::clopper_pearson_upper(hits, runs, kBoundError); }
double Share::lower() const { return stats::clopper_pearson_lower(hits, runs, kBoundError); }

std::string at_most_text(const Share& share) {
  return fmt::format("{} of {} runs (95 % bound: at most {})", percent(share.rate()), share.runs, percent(share.upper()));
}

std::string at_least_text(const Share& share) {
  return fmt::format("{} of {} runs (95 % bound: at least {})", percent(share.rate()), share.runs, percent(share.lower()));
}

Finding shown_below(std::string what, const Share& share, double limit) {
  return {std::move(what), at_most_text(share), "at most " + percent(limit), share.upper() <= limit};
}

Finding shown_above(std::string what, const Share& share, double limit) {
  return {std::move(what), at_least_text(share), "at least " + percent(limit), share.lower() >= limit};
}

Finding not_refuted_below(std::string what, const Share& share, double limit) {
  return {std::move(what), at_most_text(share), "not shown to be above " + percent(limit), share.lower() <= limit};
}

Finding not_refuted_above(std::string what, const Share& share, double limit) {
  return {std::move(what), at_least_text(share), "not shown to be below " + percent(limit), share.upper() >= limit};
}

Finding below(std::string what, const Share& share, double limit) {
  return share.runs >= kEnoughToShow ? shown_below(std::move(what), share, limit)
                                     : not_refuted_below(std::move(what), share, limit);
}

Finding exact_below(std::string what, double probability, double limit) {
  return {std::move(what), percent(probability) + ", exact", "at most " + percent(limit), probability <= limit};
}

Finding exact_above(std::string what, double probability, double limit) {
  return {std::move(what), percent(probability) + ", exact", "at least " + percent(limit), probability >= limit};
}

}  // namespace fiel

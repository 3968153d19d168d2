#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fiel {
namespace {

// In user units; the picture is scaled to the width there is, and the letters with it.
constexpr double kWidth = 460, kHeight = 290;
constexpr double kLeft = 64, kRight = 14, kTop = 16, kBottom = 44;
constexpr int kTicks = 6;
constexpr double kRoom = 0.06;  // at both ends of an axis, as a share of it

std::string number(double value) { return fmt::format("{:.1f}", value); }

double step_for(const Axis& axis, int wanted) {
  const double rough = (axis.high - axis.low) / wanted;
  if (!(rough > 0) || !std::isfinite(rough)) return 1;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string tick_words(double value, double step) {
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 6);
  const std::string words = fmt::format("{:.{}f}", value, digits);
  return std::stod(words) == 0 ? fmt::format("{:.{}f}", 0.0, digits) : words;  // no "-0"
}

Html shape(double x, double y, const MarkStyle& style) {
  Html html;
  const std::string css = fmt::format("mark {}", style.css);
  switch (style.shape) {
    case Mark2D::kDot: html.empty("circle", {{"class", css}, {"cx", number(x)}, {"cy", number(y)}, {"r", "4.5"}}); break;
    case Mark2D::kRing:
      html.empty("circle", {{"class", css + " hollow"}, {"cx", number(x)}, {"cy", number(y)}, {"r", "4.5"}});
      break;
    case Mark2D::kCross:
      html.empty("path", {{"class", css + " hollow"}, {"d", fmt::format("M{:.1f} {:.1f}l8 8m0-8l-8 8", x - 4, y - 4)}});
      break;
  }
  return html;
}

}  // namespace

std::vector<double> nice_ticks(const Axis& axis, int wanted) {
  const double step = step_for(axis, wanted);
  std::vector<double> ticks;
  for (double n = std::ceil(axis.low / step - 1e-9); n * step <= axis.high + 1e-9 * step && ticks.size() < 50; ++n) {
    ticks.push_back(n * step);
  }
  return ticks;
}

Axis axis_over(std::string label, const std::vector<double>& values) {
  Axis axis{.label = std::move(label), .low = 0, .high = 1};
  bool first = true;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    axis.low = first ? value : std::min(axis.low, value);
    axis.high = first ? value : std::max(axis.high, value);
    first = false;
  }
  double room = kRoom * (axis.high - axis.low);
  if (!(room > 0)) room = std::max(0.05 * std::abs(axis.low), 1e-6);
  axis.low -= room;
  axis.high += room;
  return axis;
}

Chart::Chart(Words words, Axis x, Axis y) : words_(std::move(words)), x_(std::move(x)), y_(std::move(y)) {}

double Chart::to_x(double value) const {
  return kLeft + std::clamp((value - x_.low) / (x_.high - x_.low), 0.0, 1.0) * (kWidth - kLeft - kRight);
}

double Chart::to_y(double value) const {
  return kHeight - kBottom - std::clamp((value - y_.low) / (y_.high - y_.low), 0.0, 1.0) * (kHeight - kTop - kBottom);
}

void Chart::text(double x, double y, std::string_view anchor, std::string_view css, std::string_view words) {
  marks_.element("text", {{"x", number(x)}, {"y", number(y)}, {"text-anchor", std::string(anchor)}, {"class", std::string(css)}},
                 words);
}

void Chart::rule_across(double y, std::string_view css, std::string_view label) {
  if (!(y >= y_.low && y <= y_.high)) return;
  marks_.empty("path", {{"class", fmt::format("rule {}", css)}, {"d", fmt::format("M{} {:.1f}H{}", kLeft, to_y(y), kWidth - kRight)}});
  if (!label.empty()) text(kWidth - kRight - 2, to_y(y) - 4, "end", "note", label);
}

void Chart::rule_up(double x, std::string_view css, std::string_view label) {
  if (!(x >= x_.low && x <= x_.high)) return;
  marks_.empty("path", {{"class", fmt::format("rule {}", css)}, {"d", fmt::format("M{:.1f} {}V{}", to_x(x), kTop, kHeight - kBottom)}});
  const bool at_the_right = to_x(x) > kWidth / 2;
  text(to_x(x) + (at_the_right ? -4 : 4), kHeight - kBottom - 6, at_the_right ? "end" : "start", "note", label);
}

void Chart::band_across(double low, double high, std::string_view css) {
  marks_.empty("rect", {{"class", fmt::format("band {}", css)}, {"x", number(kLeft)}, {"width", number(kWidth - kLeft - kRight)},
                        {"y", number(to_y(high))}, {"height", number(std::max(1.0, to_y(low) - to_y(high)))}});
}

void Chart::mark(Point at, MarkStyle style, std::string_view title, std::string_view target) {
  if (!std::isfinite(at.x) || !std::isfinite(at.y)) return;
  Html part;
  part.open("g").element("title", title).add(shape(to_x(at.x), to_y(at.y), style)).close("g");
  // For the pointer, by the page's script: a picture holds no links. From the keyboard the same rows are reached in the tables.
  if (target.empty()) {
    marks_.add(part);
  } else {
    marks_.wrap("g", {{"data-to", std::string(target)}}, part);
  }
  marks_.line();
}

void Chart::specks(const std::vector<Point>& points, std::string_view css) {
  std::string d;
  for (const Point& point : points) {
    if (std::isfinite(point.x) && std::isfinite(point.y)) d += fmt::format("M{:.0f} {:.0f}h0", to_x(point.x), to_y(point.y));
  }
  if (!d.empty()) marks_.empty("path", {{"class", fmt::format("speck {}", css)}, {"d", d}});
}

void Chart::path(const std::vector<Point>& corners, std::string_view css) {
  std::string d;
  for (const Point& point : corners) d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", to_x(point.x), to_y(point.y));
  if (!d.empty()) marks_.empty("path", {{"class", fmt::format("line {}", css)}, {"d", d}});
}

void Chart::label(Point at, std::string_view words) {
  const bool at_the_right = to_x(at.x) > 0.6 * kWidth;
  const bool at_the_top = to_y(at.y) < kTop + 14;
  text(to_x(at.x) + (at_the_right ? -8 : 8), to_y(at.y) + (at_the_top ? 14 : -7), at_the_right ? "end" : "start", "name", words);
}

Html Chart::axes() const {
  Html html;
  const auto words = [&](double x, double y, std::string_view anchor, std::string_view css, std::string_view what) {
    html.element("text", {{"x", number(x)}, {"y", number(y)}, {"text-anchor", std::string(anchor)}, {"class", std::string(css)}}, what);
  };
  const double bottom = kHeight - kBottom;
  std::string grid;
  for (const double tick : nice_ticks(x_, kTicks)) {
    grid += fmt::format("M{:.1f} {}V{}", to_x(tick), kTop, bottom);
    words(to_x(tick), bottom + 15, "middle", "tick", tick_words(tick, step_for(x_, kTicks)));
  }
  for (const double tick : nice_ticks(y_, kTicks)) {
    grid += fmt::format("M{} {:.1f}H{}", kLeft, to_y(tick), kWidth - kRight);
    words(kLeft - 6, to_y(tick) + 4, "end", "tick", tick_words(tick, step_for(y_, kTicks)));
  }
  html.empty("path", {{"class", "grid"}, {"d", grid}});
  html.empty("path", {{"class", "axis"}, {"d", fmt::format("M{} {}V{}H{}", kLeft, kTop, bottom, kWidth - kRight)}});
  words(kLeft + (kWidth - kLeft - kRight) / 2, kHeight - 8, "middle", "title", x_.label);
  const double middle = kTop + (bottom - kTop) / 2;
  html.element("text", {{"x", "12"}, {"y", number(middle)}, {"text-anchor", "middle"}, {"class", "title"},
                        {"transform", fmt::format("rotate(-90 12 {:.1f})", middle)}}, y_.label);
  return html;
}

Html Chart::svg() const {
  Html html;
  html.open("svg", {{"class", "chart"}, {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)}, {"role", "img"},
                    {"aria-label", fmt::format("{}. {}", words_.title, words_.description)}});
  return html.add(axes()).add(marks_).close("svg").line();
}

Html figure(const Chart& chart, const std::vector<LegendEntry>& legend, std::string_view caption) {
  Html html;
  html.open("figure").add(chart.svg());
  if (!legend.empty()) {
    html.open("ul", {{"class", "legend"}});
    for (const LegendEntry& entry : legend) {
      html.open("li").open("svg", {{"viewBox", "0 0 14 14"}, {"width", "14"}, {"height", "14"}, {"aria-hidden", "true"}});
      html.add(shape(7, 7, entry.style)).close("svg").text(entry.words).close("li");
    }
    html.close("ul");
  }
  return html.element("figcaption", caption).close("figure").line();
}

Html share_bar(double share) {
  Html html;
  const double width = 100 * std::clamp(share, 0.0, 1.0);
  html.open("svg", {{"class", "bar"}, {"viewBox", "0 0 100 10"}, {"preserveAspectRatio", "none"}, {"aria-hidden", "true"}});
  return html.empty("rect", {{"class", "fill"}, {"width", number(width)}, {"height", "10"}}).close("svg");
}

}  // namespace fiel

// Plain SVG charts: a frame with two linear axes, and marks in it. Readable without any script; colours come from classes of
// the page's style, and what a colour says a shape says too.
//
// Knows nothing of runs. Values outside an axis are drawn at its edge, so that one outlier does not squeeze the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/markup.h"

namespace fiel {

struct Axis {
  std::string label;  // with the unit
  double low = 0, high = 1;
};

/// Multiples of 1, 2 or 5 times a power of ten inside the axis, about `wanted` of them.
std::vector<double> nice_ticks(const Axis& axis, int wanted);
/// An axis that holds all values, with a little room at both ends; something sensible where there are none.
Axis axis_over(std::string label, const std::vector<double>& values);

struct Point {
  double x = 0, y = 0;
};

enum class Mark2D { kDot, kCross, kRing };

struct MarkStyle {
  Mark2D shape = Mark2D::kDot;
  std::string_view css = "good";  // good | bad | dim | ours
};

class Chart {
 public:
  /// What is seen, in words, for those who don't see it.
  struct Words {
    std::string title, description;
  };
  Chart(Words words, Axis x, Axis y);

  void rule_across(double y, std::string_view css, std::string_view label);
  void rule_up(double x, std::string_view css, std::string_view label);
  void band_across(double low, double high, std::string_view css);
  /// One mark that says `title` when it is pointed at; `target`: id of the element that it leads to, or "".
  void mark(Point at, MarkStyle style, std::string_view title, std::string_view target = "");
  /// Many marks at the price of one; they say nothing.
  void specks(const std::vector<Point>& points, std::string_view css);
  void path(const std::vector<Point>& corners, std::string_view css);
  void label(Point at, std::string_view text);

  Html svg() const;

 private:
  double to_x(double value) const;
  double to_y(double value) const;
  void text(double x, double y, std::string_view anchor, std::string_view css, std::string_view words);
  Html axes() const;

  Words words_;
  Axis x_, y_;
  Html marks_;
};

/// <figure> with the chart, its legend and its caption.
struct LegendEntry {
  MarkStyle style;
  std::string words;
};
Html figure(const Chart& chart, const std::vector<LegendEntry>& legend, std::string_view caption);

/// A bar for a cell of a table: `share` of the full width, 0 to 1.
Html share_bar(double share);

}  // namespace fiel

// A route as a row of small numbers, the same columns for all engines: column 0 is the engine, then one per knob name. What
// is learned of a variant on one engine serves on another. Knows no time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "route/space.h"

namespace fiel {

/// Level per column; 0 in a knob's column: the engine lacks the knob, or it does not count.
using Levels = std::vector<std::uint8_t>;

class Features {
 public:
  explicit Features(const Space& space);

  std::size_t columns() const { return columns_.size(); }
  std::size_t levels(std::size_t column) const { return columns_[column].levels; }
  /// 0 for equal levels, at most 1. Numbers lie apart by their ranks, names by 1.
  float distance(std::size_t column, std::uint8_t a, std::uint8_t b) const {
    return columns_[column].distance[a * columns_[column].levels + b];
  }

  /// Of a valid, canonical route.
  Levels levels_of(const BuildRoute& route) const;

 private:
  struct Column {
    std::map<std::string, std::uint8_t, std::less<>> numbers;  // of each value; from 1 on but for engines
    std::size_t levels = 1;
    std::vector<float> distance;
  };
  static void measure(Column& column, const std::vector<std::string>& values, std::size_t first);

  const Space* space_;  // kept by whom it was given by
  std::vector<Column> columns_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace fiel

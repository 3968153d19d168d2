// For tests only: what a program says, held against a file that people have read. UPDATE_GOLDEN=1 writes the files anew;
// the diff is to be read before it is committed.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/json.h"

namespace fiel {

inline void expect_golden(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(FIEL_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  std::ostringstream expected;
  expected << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_EQ(text, expected.str()) << file << " differs; UPDATE_GOLDEN=1 refreshes it";
}

/// Equal but for the last digits of fractions, in which mathematical libraries differ.
inline bool nearly_equal(const Json& a, const Json& b) {
  if (a.is_number_float() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  }
  if (a.is_object() && b.is_object() && a.size() == b.size()) {
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key) || !nearly_equal(value, b[key])) return false;
    }
    return true;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    return std::equal(a.begin(), a.end(), b.begin(), nearly_equal);
  }
  return a == b;
}

inline void expect_golden_json(const std::string& name, const Json& json) {
  const auto file = std::filesystem::path(FIEL_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << json.dump(1) << "\n";
  std::ostringstream expected;
  expected << std::ifstream(file, std::ios::binary).rdbuf();
  const auto parsed = parse_json(expected.str());
  ASSERT_TRUE(parsed) << file << ": " << parsed.error().message;
  EXPECT_TRUE(nearly_equal(json, *parsed)) << Json::diff(*parsed, json).dump(1) << "\nUPDATE_GOLDEN=1 refreshes " << file;
}

}  // namespace fiel

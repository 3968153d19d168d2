// For tests only: what a program says, held against a file that people have read. UPDATE_GOLDEN=1 writes the files anew;
// the diff is to be read before it is committed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

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

}  // namespace fiel

// For tests only: a fresh folder that is gone when the test is, and files and Python programs in
// it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace fiel {

class TestFolder {
 public:
  TestFolder() {
    std::string name = ::testing::TempDir() + "/fiel_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(name);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  std::filesystem::path write(std::string_view name, std::string_view text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  std::string read(std::string_view name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  /// Runs a Python program with the project's packages in this folder; true when it exits with 0.
  bool python(std::string_view program) const {
    write("program.py", program);
    const std::string command = "cd '" + path_.string() + "' && " FIEL_PYTHON " program.py";
    return std::system(command.c_str()) == 0;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace fiel

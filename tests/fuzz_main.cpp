// Runs a fuzz target without libFuzzer: its seeds as they are, then spoiled ones, until the time is up. Coverage does not guide
// it, so it finds less than libFuzzer; it runs with every compiler and in ./test. Same seed, same inputs.
//
//   X_fuzz [--seconds S] [--seed N]     prints how many inputs it ran
//   X_fuzz --write-seeds FOLDER         the seeds as files, for libFuzzer
//   X_fuzz FILE...                      these inputs alone
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/digest.h"
#include "base/files.h"
#include "base/fuzz.h"
#include "base/rng.h"

namespace {

using fiel::Rng;

constexpr std::size_t kMaxBytes = std::size_t{1} << 16;

char interesting(Rng& rng) {
  constexpr std::string_view kBytes("\0\x01\x7f\x80\xff\n\",:[]{}-.e09/", 20);
  return rng.coin() ? kBytes[rng.below(kBytes.size())] : static_cast<char>(rng.below(256));
}

// One step; `other` lends a piece.
void spoil(std::string& text, const std::string& other, Rng& rng) {
  const std::size_t at = text.empty() ? 0 : rng.below(text.size());
  const std::size_t count = std::min(text.size() - at, std::size_t{1} << rng.below(6));
  switch (rng.below(7)) {
    case 0: text.insert(at, 1, interesting(rng)); break;
    case 1: text.erase(at, count); break;
    case 2:
      if (!text.empty()) text[at] = interesting(rng);
      break;
    case 3:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
      break;
    case 4: text.insert(at, text, at, count); break;  // a piece twice
    case 5: {
      const std::size_t from = other.empty() ? 0 : rng.below(other.size());
      text.insert(at, other, from, std::size_t{1} << rng.below(8));
      break;
    }
    case 6:
      if (rng.below(8) == 0) text.resize(at);  // cut off, as by a full disk
      break;
  }
  if (text.size() > kMaxBytes) text.resize(kMaxBytes);
}

void run(std::string_view text) {
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const std::string& seed : fiel::fuzz_seeds()) {
    std::ofstream(folder / fiel::sha256_hex(seed).substr(0, 16), std::ios::binary).write(seed.data(), std::ssize(seed));
  }
  return 0;
}

int run_for(double seconds, std::uint64_t seed) {
  const auto seeds = fiel::fuzz_seeds();
  if (seeds.empty()) return 1;
  for (const std::string& whole : seeds) run(whole);
  Rng rng(seed);
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::int64_t count = std::ssize(seeds);
  for (; passed() < seconds; ++count) {
    std::string text = seeds[rng.below(seeds.size())];
    for (std::uint64_t steps = std::uint64_t{1} << rng.below(5); steps > 0; --steps) spoil(text, seeds[rng.below(seeds.size())], rng);
    // What ends the process can be run again: X_fuzz FILE.
    fiel::fuzz_file("input", text);
    run(text);
  }
  fmt::print("{} inputs from {} seeds in {:.1f} s\n", count, seeds.size(), passed());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--write-seeds") return write_seeds(words[1]);
  double seconds = 5;
  std::uint64_t seed = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--seconds" && i + 1 < words.size()) {
      seconds = std::atof(words[++i].c_str());
    } else if (words[i] == "--seed" && i + 1 < words.size()) {
      seed = std::strtoull(words[++i].c_str(), nullptr, 10);
    } else {
      for (; i < words.size(); ++i) run(fiel::read_text(words[i]).value());
      return 0;
    }
  }
  return run_for(seconds, seed);
}

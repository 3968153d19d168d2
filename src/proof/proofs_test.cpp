// The short form of every proof; bench/proofs --long has the long one and the tables.
#include "proof/proofs.h"

#include <gtest/gtest.h>

#include <cctype>
#include <ostream>

namespace fiel {

void PrintTo(const StatisticalProof& proof, std::ostream* out) { *out << proof.id << " " << proof.title; }

namespace {

class Proofs : public ::testing::TestWithParam<StatisticalProof> {};

TEST_P(Proofs, Hold) {
  const StatisticalProof& proof = GetParam();
  for (const Finding& finding : proof.find(proof.short_runs)) {
    EXPECT_TRUE(finding.holds) << proof.id << " " << proof.title << "\n" << finding.what << ": " << finding.measured
                               << "; promised: " << finding.limit;
  }
}

std::vector<StatisticalProof> short_ones() {
  std::vector<StatisticalProof> all = speed_proofs();
  for (auto&& more : {accuracy_proofs(), poison_proofs(), whole_run_proofs({})}) all.insert(all.end(), more.begin(), more.end());
  std::erase_if(all, [](const StatisticalProof& proof) { return proof.short_runs == 0; });
  return all;
}

// "T1 Whole runs: two names" -> "T1WholeRunsTwoNames"
std::string name_of(const ::testing::TestParamInfo<StatisticalProof>& info) {
  std::string name = info.param.id;
  bool starts = true;
  for (const char c : info.param.title) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_letter) name += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = !is_letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Proofs, ::testing::ValuesIn(short_ones()), name_of);

}  // namespace
}  // namespace fiel

#include "report/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/files.h"
#include "report/golden.h"
#include "report/test_run.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BundleTest : public ::testing::Test {
 protected:
  std::filesystem::path run(void (*story)(const std::filesystem::path&)) {
    std::filesystem::create_directories(folder_ / "run");
    story(folder_ / "run");
    return folder_ / "run";
  }
  Json bundle_json() const { return parse_json(folder_.read("out/bundle.json")).value(); }

  TestFolder folder_;
};

TEST_F(BundleTest, HoldsTheArtifactThatTheVerdictShipsByteForByte) {
  const auto written = write_bundle(run(write_improved), {}, folder_ / "out");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(*written, folder_ / "out");
  const Json bundle = bundle_json();
  EXPECT_EQ(bundle["candidate"]["id"], 4);
  EXPECT_EQ(bundle["digests"]["artifact"].get<std::string>(), sha256_folder(folder_ / "out/artifact").value());
  EXPECT_EQ(bundle["environment"], (Json{{"ONEDNN_MAX_CPU_ISA", "AVX2"}}));
  EXPECT_EQ(bundle["properties"], (Json{{"NUM_STREAMS", "1"}}));  // `shape` was built in
  EXPECT_EQ(bundle["evidence"]["worth"], "proven");
  EXPECT_EQ(bundle["inputs"][0]["name"], "x");
  EXPECT_EQ(bundle["cores"], (Json{0, 1}));
  EXPECT_EQ(bundle["cpu_count"], 2);
  EXPECT_EQ(bundle["devices"], (Json::array({"CPU: AMD EPYC 9V45"})));
  EXPECT_EQ(bundle["comparator"]["route"], "engine=openvino");
  EXPECT_EQ(bundle["reference"]["route"], "engine=openvino INFERENCE_PRECISION_HINT=f32");
  EXPECT_EQ(bundle["digests"]["contract"], sha256_hex(folder_.read("run/contract.toml")));
  EXPECT_EQ(parse_json(folder_.read("out/evidence.json")).value()["verdict"], "improved");
  for (const char* name : {"README.md", "load.py", "engine.py", "load.cpp", "engine.h", "sealed.h", "CMakeLists.txt", "contract.toml"}) {
    EXPECT_TRUE(bundle["files"].contains(name)) << name;
  }
  EXPECT_TRUE(check_seal(*written)->intact());
}

TEST_F(BundleTest, LeavesNothingBesideIt) {
  ASSERT_TRUE(write_bundle(run(write_improved), {}, folder_ / "to/there/"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "to")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("there"));
}

TEST_F(BundleTest, ReadsAsPeopleHaveReadIt) {
  ASSERT_TRUE(write_bundle(run(write_improved), {}, folder_ / "out"));
  expect_golden("bundle_README.md", folder_.read("out/README.md"));
  expect_golden("bundle_sealed.h", folder_.read("out/sealed.h"));
}

TEST_F(BundleTest, NamesEveryFileThatIsNotAsSealed) {
  const auto bundle = write_bundle(run(write_improved), {}, folder_ / "out").value();
  const Json sealed = bundle_json();
  EXPECT_GT(sealed["files"].size(), 7U);
  for (const auto& [name, file] : sealed["files"].items()) {
    const std::string before = folder_.read("out/" + name);
    std::string after = before;
    after[after.size() / 2] = static_cast<char>(after[after.size() / 2] ^ 1);
    folder_.write("out/" + name, after);
    EXPECT_THAT(check_seal(bundle)->changed, ElementsAre(name));
    std::filesystem::remove(bundle / name);
    EXPECT_THAT(check_seal(bundle)->missing, ElementsAre(name));
    folder_.write("out/" + name, before);
  }
  folder_.write("out/artifact/more.bin", "x");
  EXPECT_THAT(check_seal(bundle)->extra, ElementsAre("artifact/more.bin"));
}

TEST_F(BundleTest, SeesEveryChangeOfTheListItself) {
  const auto bundle = write_bundle(run(write_improved), {}, folder_ / "out").value();
  const std::string before = folder_.read("out/bundle.json");
  std::string other = before;
  other.replace(other.find("\"1\""), 3, "\"2\"");  // NUM_STREAMS
  folder_.write("out/bundle.json", other);
  EXPECT_THAT(check_seal(bundle)->changed, ElementsAre("bundle.json"));
  folder_.write("out/bundle.json", before + "\n");
  EXPECT_THAT(check_seal(bundle)->changed, ElementsAre("bundle.json"));
  folder_.write("out/bundle.json", before.substr(0, before.size() / 2));
  EXPECT_EQ(check_seal(bundle).error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(check_seal(folder_ / "run").error().kind, ErrorKind::kUsage);
}

TEST_F(BundleTest, RefusesAnArtifactThatIsNotWhatWasMeasured) {
  const auto folder = run(write_improved);
  const std::string digest = [&] {
    const auto made = write_bundle(folder, {}, folder_ / "out").value();
    return parse_json(read_text(made / "bundle.json").value()).value()["digests"]["artifact"].get<std::string>();
  }();
  folder_.write("run/artifacts/" + digest + "/compiled.blob", "something else");
  const auto again = write_bundle(folder, {}, folder_ / "out");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kCorrupt);
  EXPECT_THAT(again.error().message, HasSubstr("seal"));
  EXPECT_TRUE(check_seal(folder_ / "out")->intact()) << "the older bundle stays";
}

TEST_F(BundleTest, ReplacesAnOlderBundleAndNothingElse) {
  const auto folder = run(write_improved);
  ASSERT_TRUE(write_bundle(folder, {}, folder_ / "out"));
  folder_.write("out/notes.txt", "mine");
  ASSERT_TRUE(write_bundle(folder, 3, folder_ / "out"));
  EXPECT_EQ(bundle_json()["candidate"]["id"], 3);
  EXPECT_TRUE(check_seal(folder_ / "out")->intact());

  folder_.write("work/thesis.txt", "precious");
  EXPECT_EQ(write_bundle(folder, {}, folder_ / "work").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(folder_.read("work/thesis.txt"), "precious");
  std::filesystem::create_directory_symlink(folder_ / "out", folder_ / "link");
  EXPECT_EQ(write_bundle(folder, {}, folder_ / "link").error().kind, ErrorKind::kUsage);
}

TEST_F(BundleTest, ExportsWhatIsNotAdmissibleOnlyByForceAndSaysSoLoudly) {
  const auto folder = run(write_improved);
  const auto refused = write_bundle(folder, 5, folder_ / "out");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("wrong_slice"));
  ASSERT_TRUE(write_bundle(folder, 5, folder_ / "out", Force::kInadmissible));
  EXPECT_THAT(folder_.read("out/README.md"), HasSubstr("WARNING"));
  EXPECT_EQ(bundle_json()["evidence"]["worth"], "inadmissible");
}

TEST_F(BundleTest, SaysOnWhatAClaimRests) {
  const auto worth = [&](const std::filesystem::path& folder, std::optional<int> id) {
    const auto made = write_bundle(folder, id, folder_ / "out");
    return made ? bundle_json()["evidence"]["worth"].get<std::string>() : made.error().message;
  };
  EXPECT_EQ(worth(run(write_improved), 3), "provisional");
  std::filesystem::remove_all(folder_ / "run");
  EXPECT_EQ(worth(run(write_not_improved), {}), "kept");
}

TEST_F(BundleTest, ExportsNothingWhereNothingShips) {
  const auto refusal = [&](void (*story)(const std::filesystem::path&), std::optional<int> id) {
    std::filesystem::remove_all(folder_ / "run");
    return write_bundle(run(story), id, folder_ / "out").error();
  };
  EXPECT_THAT(refusal(write_infeasible, {}).message, HasSubstr("infeasible"));
  EXPECT_THAT(refusal(write_unfinished, {}).message, HasSubstr("no verdict"));
  EXPECT_THAT(refusal(write_improved, 99).message, HasSubstr("no candidate 99"));
  EXPECT_THAT(refusal(write_improved, 7).message, HasSubstr("no artifact"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace fiel

#include "tune/bundle_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BundleEnvironment : public ::testing::Test {
 protected:
  std::vector<std::string> differences() const {
    return environment_differences(bundle, {.machine = machine, .missing_cores = missing, .engine = hello});
  }

  Json bundle = {{"engine", "openvino"},          {"engine_version", "2026.4.1"},
                 {"device", "CPU"},               {"devices", Json::array({"CPU: AMD EPYC", "GPU: old"})},
                 {"cpu", "AMD EPYC"},             {"cpu_count", 2},
                 {"cpu_features", {"amx", "avx2"}}, {"effective", {{"PRECISION", "bf16"}, {"STREAMS", "1"}}}};
  ThisMachine machine{.cpu = "AMD EPYC", .cpu_count = 2, .kernel = "6", .memory_bytes = 1};
  std::vector<int> missing;
  HelloResult hello{.engine = "openvino", .version = "2026.4.1", .devices = {"CPU: AMD EPYC", "GPU: new"},
                    .cpu_features = {"avx2", "amx"}, .capabilities = {}, .knobs = {}, .float32_settings = {}, .json = {}};
};

TEST_F(BundleEnvironment, TheSamePlaceHasNoDifferences) { EXPECT_THAT(differences(), IsEmpty()); }

TEST_F(BundleEnvironment, EachDifferenceIsNamedWithBothSides) {
  hello.version = "2026.5.0";
  machine.cpu_count = 4;
  EXPECT_THAT(differences(), ElementsAre("version of openvino: measured with 2026.4.1, here is 2026.5.0",
                                         "number of cores: measured with 2, here is 4"));
}

TEST_F(BundleEnvironment, AnotherDriverOfTheDeviceThatWasUsedIsOneAndOfAnotherDeviceIsNone) {
  hello.devices = {"CPU: AMD EPYC, microcode 7"};
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("device: measured with CPU: AMD EPYC, here is CPU: AMD EPYC, microcode 7")));
}

TEST_F(BundleEnvironment, FewerAndMoreCpuFeaturesBothCount) {
  hello.cpu_features = {"avx2", "avx10"};
  EXPECT_THAT(differences(), ElementsAre("this CPU lacks amx", HasSubstr("also has avx10")));
}

TEST_F(BundleEnvironment, CoresThatAreGoneCount) {
  missing = {6, 7};
  EXPECT_THAT(differences(), ElementsAre(HasSubstr("core 6, 7")));
}

TEST_F(BundleEnvironment, WhatAnOlderBundleDoesNotSayIsNotCompared) {
  bundle.erase("devices");
  bundle.erase("cpu_count");
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(BundleEnvironment, AnEngineThatActsOtherwiseIsSeen) {
  const Json now = {{"settings", {{"PRECISION", "f32"}, {"STREAMS", "1"}, {"NEW", "x"}}}};
  EXPECT_THAT(effective_differences(bundle, now), ElementsAre("PRECISION was bf16 in effect, here it is f32"));
}

}  // namespace
}  // namespace fiel

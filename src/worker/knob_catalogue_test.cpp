#include "worker/knob_catalogue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace fiel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Knob* find(const KnobOffer& offer, std::string_view name) {
  const auto found = std::ranges::find(offer.knobs, name, &Knob::name);
  return found == offer.knobs.end() ? nullptr : &*found;
}

std::string why_left_out(const KnobOffer& offer, std::string_view name) {
  for (const auto& [left, why] : offer.left_out) {
    if (left == name) return why;
  }
  return "it is offered";
}

std::vector<CatalogueKnob> parse(std::string_view text) {
  auto catalogue = parse_catalogue(text);
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return catalogue.value_or(std::vector<CatalogueKnob>{});
}

std::vector<CatalogueKnob> openvino_catalogue() {
  return parse(read_text(FIEL_SOURCE_DIR "/src/worker/knobs_openvino.toml").value());
}

TEST(KnobCatalogue, TakesTheDefaultFromTheEngineAndAddsItToTheValues) {
  const auto catalogue = parse("[[knob]]\nname='A'\nkind='property'\nhelp='h'\nvalues=['1','2']\n");
  const KnobOffer offer =
      offer_knobs(catalogue, {.cpu_features = {}, .core_count = 2, .facts = {}}, {{"A", "7"}});
  ASSERT_NE(find(offer, "A"), nullptr);
  EXPECT_EQ(find(offer, "A")->default_value, "7");
  EXPECT_THAT(find(offer, "A")->values, ElementsAre("7", "1", "2"));
}

TEST(KnobCatalogue, LeavesOutWhatTheEngineDoesNotKnow) {
  const auto catalogue = parse(
      "[[knob]]\nname='A'\nkind='property'\nhelp='h'\nvalues=['1','2']\n"
      "[[knob]]\nname='B'\nkind='property'\nhelp='h'\nvalues=['1','2']\ndefault='1'\nunadvertised="
      "true\n");
  const KnobOffer offer = offer_knobs(catalogue, {}, {});
  EXPECT_THAT(why_left_out(offer, "A"), HasSubstr("does not know it"));
  EXPECT_NE(find(offer, "B"), nullptr);
}

TEST(KnobCatalogue, ExpandsCoresToPowersOfTwoAndTheCountItself) {
  const auto catalogue =
      parse("[[knob]]\nname='A'\nkind='batch'\nhelp='h'\nvalues=['0','@cores']\ndefault='0'\n");
  EXPECT_THAT(offer_knobs(catalogue, {.cpu_features = {}, .core_count = 1, .facts = {}}, {})
                  .knobs[0]
                  .values,
              ElementsAre("0", "1"));
  EXPECT_THAT(offer_knobs(catalogue, {.cpu_features = {}, .core_count = 6, .facts = {}}, {})
                  .knobs[0]
                  .values,
              ElementsAre("0", "1", "2", "4", "6"));
}

TEST(KnobCatalogue, DropsValuesThatTheMachineCannotShowAndKnobsThatAreLeftWithTheirDefault) {
  const auto catalogue = parse(
      "[[knob]]\nname='A'\nkind='runtime'\nhelp='h'\nvalues=['x','y']\ndefault='x'\nvalue_needs={y="
      "['big|huge']}\n"
      "[[knob]]\nname='B'\nkind='runtime'\nhelp='h'\nvalues=['x','y']\ndefault='x'\nvalue_needs={y="
      "['big']}\nalways=true\n"
      "[[knob]]\nname='C'\nkind='runtime'\nhelp='h'\nvalues=['x','y']\ndefault='x'\n"
      "only_if=[{knob='A',values=['y']}]\n");
  const KnobOffer small = offer_knobs(catalogue, {}, {});
  EXPECT_THAT(why_left_out(small, "A"), HasSubstr("y needs big|huge"));
  EXPECT_THAT(find(small, "B")->values, ElementsAre("x"));
  EXPECT_TRUE(find(small, "C")->only_if.empty());
  const KnobOffer large =
      offer_knobs(catalogue, {.cpu_features = {}, .core_count = 1, .facts = {"huge"}}, {});
  EXPECT_THAT(find(large, "A")->values, ElementsAre("x", "y"));
  EXPECT_EQ(find(large, "C")->only_if.at(0).knob, "A");
}

TEST(KnobCatalogue, RefusesMistakesInTheFile) {
  const std::string good =
      "[[knob]]\nname='A'\nkind='batch'\nhelp='h'\nvalues=['1']\ndefault='1'\n";
  EXPECT_TRUE(parse_catalogue(good));
  for (const std::string& bad :
       {good + "valuse=['1']\n", good + good, good + "[other]\n", std::string("[[knob]]\n"),
        std::string("knob"), good + "needs=[1]\n", good + "kind='wish'\n",
        std::string("[[knob]]\nname='A'\nkind='batch'\nhelp='h'\nvalues=['1']\ndefault='2'\n"),
        std::string("[[knob]]\nname='A'\nkind='batch'\nhelp='h'\nvalues=['1']\n")}) {
    EXPECT_FALSE(parse_catalogue(bad)) << bad;
  }
}

TEST(OpenVinoKnobs, KeepFloat32NameableWhereNothingElseRuns) {
  const KnobOffer offer =
      offer_knobs(openvino_catalogue(), {.cpu_features = {}, .core_count = 2, .facts = {"avx2"}},
                  {{"INFERENCE_PRECISION_HINT", "f32"}, {"ENABLE_HYPER_THREADING", "YES"}});
  EXPECT_THAT(find(offer, "INFERENCE_PRECISION_HINT")->values, ElementsAre("f32"));
  EXPECT_THAT(why_left_out(offer, "ENABLE_HYPER_THREADING"), HasSubstr("there is no smt"));
  EXPECT_THAT(find(offer, "ONEDNN_MAX_CPU_ISA")->values, ElementsAre("ALL", "AVX"));
}

TEST(OpenVinoKnobs, OfferMoreOnAMachineThatHasMore) {
  const MachineFacts server{
      .cpu_features = {},
      .core_count = 32,
      .facts = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "smt",
                "sockets", "thp_madvise", "glibc_hugetlb", "capability:BF16"}};
  const KnobOffer offer = offer_knobs(openvino_catalogue(), server,
                                      {{"INFERENCE_PRECISION_HINT", "bf16"},
                                       {"ENABLE_HYPER_THREADING", "YES"},
                                       {"CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE", "1"},
                                       {"DYNAMIC_QUANTIZATION_GROUP_SIZE", "32"},
                                       {"MODEL_DISTRIBUTION_POLICY", ""}});
  EXPECT_EQ(find(offer, "INFERENCE_PRECISION_HINT")->default_value, "bf16");
  EXPECT_THAT(find(offer, "INFERENCE_PRECISION_HINT")->values, ElementsAre("f32", "bf16"));
  for (const char* name : {"ENABLE_HYPER_THREADING", "CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
                           "DYNAMIC_QUANTIZATION_GROUP_SIZE", "MODEL_DISTRIBUTION_POLICY",
                           "ONEDNN_DEFAULT_FPMATH_MODE"}) {
    EXPECT_NE(find(offer, name), nullptr) << name;
  }
  EXPECT_THAT(find(offer, "GLIBC_TUNABLES")->values, Contains("glibc.malloc.hugetlb=1"));
  EXPECT_THAT(find(offer, "ONEDNN_MAX_CPU_ISA")->values, Contains("AVX512_CORE_BF16"));
}

TEST(Knobs, HaveNoCharacterThatARouteCouldNotSpell) {
  for (const char* engine : {"openvino", "onnxruntime", "trtexec"}) {
    for (const CatalogueKnob& entry : parse(read_text(fmt::format("{}/src/worker/knobs_{}.toml", FIEL_SOURCE_DIR, engine)).value())) {
      for (const std::string& value : entry.knob.values) {
        EXPECT_EQ(value.find_first_of(" \t|[]'\""), std::string::npos) << value;
        EXPECT_FALSE(value.empty()) << entry.knob.name;
      }
    }
  }
}

std::vector<CatalogueKnob> onnxruntime_catalogue() {
  return parse(read_text(FIEL_SOURCE_DIR "/src/worker/knobs_onnxruntime.toml").value());
}

TEST(OnnxRuntimeKnobs, OfferAProviderWithItsOptionsWhereTheLibraryHasIt) {
  std::map<std::string, std::string> defaults;
  for (const CatalogueKnob& entry : onnxruntime_catalogue()) defaults[entry.knob.name] = entry.knob.default_value;
  const KnobOffer none = offer_knobs(onnxruntime_catalogue(), {}, defaults);
  EXPECT_EQ(find(none, "provider"), nullptr);
  EXPECT_THAT(why_left_out(none, "provider.CUDA.use_tf32"), HasSubstr("CUDAExecutionProvider"));
  const KnobOffer gpu = offer_knobs(
      onnxruntime_catalogue(),
      {.cpu_features = {}, .core_count = 2, .facts = {"provider:CUDAExecutionProvider", "provider:TensorrtExecutionProvider"}}, defaults);
  EXPECT_THAT(find(gpu, "provider")->values, ElementsAre("CPU", "TensorRT", "CUDA"));
  ASSERT_NE(find(gpu, "provider.CUDA.use_tf32"), nullptr);
  EXPECT_EQ(find(gpu, "provider.CUDA.use_tf32")->only_if.at(0).values, std::vector<std::string>{"CUDA"});
  EXPECT_NE(find(gpu, "provider.TensorRT.trt_fp16_enable"), nullptr);
}

TEST(OnnxRuntimeKnobs, NameEachProviderOptionAfterItsProvider) {
  for (const CatalogueKnob& entry : onnxruntime_catalogue()) {
    if (!entry.knob.name.starts_with("provider.")) continue;
    ASSERT_EQ(entry.knob.only_if.size(), 1U) << entry.knob.name;
    EXPECT_TRUE(entry.knob.name.starts_with("provider." + entry.knob.only_if[0].values.at(0) + ".")) << entry.knob.name;
    EXPECT_EQ(entry.unset, entry.knob.default_value) << entry.knob.name;
  }
}

TEST(MachineFacts, ReadsTheFlagsThatMatter) {
  EXPECT_THAT(
      parse_cpu_features(
          "processor\t: 0\nflags\t\t: fpu sse4_1 avx2 fma amx_int8 rdrand\nflags\t: avx512f\n"),
      ElementsAre("amx_int8", "avx2", "fma", "sse4_1"));
  EXPECT_THAT(parse_cpu_features("Features\t: fp asimd sve i8mm crc32\n"),
              ElementsAre("asimd", "i8mm", "sve"));
  EXPECT_TRUE(parse_cpu_features("").empty());
}

TEST(MachineFacts, AlternativesHoldIfOneDoes) {
  const MachineFacts machine{.cpu_features = {}, .core_count = 1, .facts = {"b"}};
  EXPECT_TRUE(machine.holds("b"));
  EXPECT_TRUE(machine.holds("a|b|c"));
  EXPECT_FALSE(machine.holds("a|c"));
  EXPECT_FALSE(machine.holds(""));
}

TEST(MachineFacts, ThisMachineHasACore) { EXPECT_GE(read_machine_facts().core_count, 1); }

// docs/adding-a-knob.md: what stands there can be put into a knob file as it is.
TEST(KnobCatalogue, TheExamplesOfThePageAreOffered) {
  const std::string page = read_text(FIEL_SOURCE_DIR "/docs/adding-a-knob.md").value();
  std::string examples;
  constexpr std::string_view kBegin = "```toml\n", kEnd = "```";
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    examples += page.substr(begin, page.find(kEnd, begin) - begin);
  }
  const KnobOffer offer = offer_knobs(parse(examples), {}, {{"CPU_DENORMALS_OPTIMIZATION", "NO"}});
  ASSERT_EQ(offer.knobs.size(), 2U);
  EXPECT_EQ(offer.knobs[0].kind, KnobKind::kProperty);
  EXPECT_EQ(offer.knobs[1].kind, KnobKind::kEnvironment);
  EXPECT_EQ(offer.knobs[1].default_value, "engine");
}

}  // namespace
}  // namespace fiel

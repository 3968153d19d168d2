#include "model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "model/openvino_ir.h"
#include "model/other_models.h"
#include "model/test_folder.h"
#include "model/tflite.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> described(const std::vector<ModelPort>& ports) {
  std::vector<std::string> words;
  for (const ModelPort& port : ports) words.push_back(describe(port));
  return words;
}

std::string without(std::string_view text, std::string_view part, std::string_view instead = "") {
  std::string result(text);
  const auto at = result.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? result : result.replace(at, part.size(), instead);
}

TEST(ModelFile, ReadsThePortsOfAnOpenVinoIrAndItsWeightsAreItsIdentity) {
  const TestFolder folder;
  const auto path = folder.write("model.xml", kSmallIr);
  const auto bare = read_model(path);
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_THAT(described(bare->inputs), ElementsAre("x: float32 [?, 10]"));
  EXPECT_THAT(described(bare->outputs), ElementsAre("y: float32 [?, 10]")) << "the result's own name, not the first one";
  EXPECT_EQ(bare->digest, sha256_hex(kSmallIr));
  EXPECT_EQ(bare->producer, "OpenVINO IR");
  EXPECT_FALSE(is_onnx(*bare));
  folder.write("model.bin", "weights");
  const auto whole = read_model(path);
  ASSERT_TRUE(whole);
  EXPECT_NE(whole->digest, bare->digest);
  EXPECT_EQ(whole->digest, digest_model_file(path));
}

TEST(ModelFile, NamesAPortByTheFirstOfItsNamesWhereItsNodeIsCalledOtherwise) {
  const auto ports = read_openvino_ir(without(kSmallIr, "name=\"x\" type=\"Parameter\"", "name=\"Parameter_1\" type=\"Parameter\""));
  ASSERT_TRUE(ports);
  EXPECT_THAT(described(ports->inputs), ElementsAre("other,name: float32 [?, 10]"));
  const auto own = read_openvino_ir(without(kSmallIr, "type=\"Result\"", "type=\"Result\" output_names=\"q\""));
  ASSERT_TRUE(own);
  EXPECT_THAT(described(own->outputs), ElementsAre("q: float32 [?, 10]"));
}

TEST(ModelFile, RefusesAnIrThatIsNoneAndSaysWhy) {
  const std::pair<std::string, const char*> cases[] = {
      {"<html><body>not found</body></html>", "begins with <html>"},
      {std::string(kSmallIr.substr(0, kSmallIr.size() / 2)), ""},
      {without(kSmallIr, " names=\"z,y\""), "\"y/sink_port_0\" has no name"},
      {without(kSmallIr, "to-layer=\"2\""), "nothing leads to"},
      {without(kSmallIr, "</edges>"), "ends what did not begin"},
      {"<net></net>", "no output"},
      {"<net", "does not end"},
      {"", "no output"}};
  for (const auto& [text, words] : cases) {
    const auto ports = read_openvino_ir(text);
    ASSERT_FALSE(ports) << text;
    EXPECT_THAT(ports.error().message, HasSubstr(words));
    EXPECT_FALSE(ports.error().hint.empty());
  }
}

TEST(ModelFile, ReadsThePortsOfATfliteModel) {
  const TestFolder folder;
  const auto path = folder.write("model.tflite", small_tflite());
  const auto model = read_model(path);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(described(model->inputs), ElementsAre("x: float32 [1, 10]"));
  EXPECT_THAT(described(model->outputs), ElementsAre("y: float32 [1, 10]"));
  EXPECT_EQ(model->digest, sha256_hex(small_tflite()));
}

TEST(ModelFile, RefusesATfliteModelThatIsCutOffAnywhereBeforeItsPorts) {
  const std::string whole = small_tflite();
  for (std::size_t size = 0; size < whole.size() - 8; ++size) {
    const auto ports = read_tflite(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(ports) << size;
    EXPECT_THAT(ports.error().message, HasSubstr("no TFLite model"));
  }
  EXPECT_FALSE(read_tflite("PK\x03\x04TFL2")) << "another format";
}

TEST(ModelFile, KnowsModelsFromContractsByTheirNames) {
  EXPECT_TRUE(is_called_a_model("a/b.onnx") && is_called_a_model("b.xml") && is_called_a_model("b.tflite"));
  EXPECT_FALSE(is_called_a_model("contract.toml"));
}

}  // namespace
}  // namespace fiel

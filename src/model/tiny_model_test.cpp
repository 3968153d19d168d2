#include "model/tiny_model.h"

#include <gtest/gtest.h>

#include "model/onnx_model.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

TEST(TinyModel, IsReadBackAndTakenByOnnxsOwnChecker) {
  const TestFolder folder;
  ASSERT_TRUE(write_tiny_model(folder / "m.onnx", {1, 256}));
  const auto model = read_onnx_model(folder / "m.onnx");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(describe(model->inputs.at(0)), "x: float32 [1, 256]");
  EXPECT_EQ(describe(model->outputs.at(0)), "y: float32 [1, 256]");
  EXPECT_TRUE(folder.python("import onnx; onnx.checker.check_model('m.onnx')"));
}

}  // namespace
}  // namespace fiel

// Models of other formats than ONNX, read without an engine.
#include "base/fuzz.h"
#include "model/openvino_ir.h"
#include "model/other_models.h"
#include "model/tflite.h"

std::vector<std::string> fiel::fuzz_seeds() { return {std::string(kSmallIr), small_tflite()}; }

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fiel::fuzz_text(data, size));
  (void)fiel::read_openvino_ir(text);
  (void)fiel::read_tflite(text);
  return 0;
}

#include "model/onnx_tensor.h"

#include <gtest/gtest.h>

#include "model/test_folder.h"

namespace fiel {
namespace {

TEST(OnnxTensor, RawAndTypedDataOfEachKindAreRead) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(R"(
import numpy as np, onnx
from onnx import helper as h, TensorProto as T, numpy_helper as n
def save(name, t): open(name, 'wb').write(t.SerializeToString())
save('raw.pb', n.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), 'x'))
save('scalar.pb', n.from_array(np.array(7, dtype=np.int64)))
for name, value in dict(FLOAT=1.5, DOUBLE=1.5, FLOAT16=1.5, BFLOAT16=1.5, INT8=-3, UINT8=200, INT16=-300, UINT16=60000,
                        INT32=-70000, UINT32=4000000000, INT64=-5000000000, UINT64=5000000000, BOOL=1).items():
    save(name + '.pb', h.make_tensor('t', getattr(T, name), [1], [value]))
save('string.pb', h.make_tensor('t', T.STRING, [1], ['a']))
bad = n.from_array(np.zeros(4, dtype=np.float32)); bad.dims[0] = 5; save('short.pb', bad)
bad.dims[0] = -4; save('negative.pb', bad)
bad = h.make_tensor('t', T.FLOAT, [2], [1, 2]); bad.dims[0] = 2**40; save('huge.pb', bad)
bad = n.from_array(np.zeros(1, dtype=np.float32)); bad.data_location = T.EXTERNAL; save('external.pb', bad)
open('garbage.pb', 'wb').write(b'\xff' * 50)
)"));
  const auto raw = read_onnx_tensor(folder / "raw.pb").value();
  EXPECT_EQ(raw.name, "x");
  EXPECT_EQ(raw.tensor.shape, (Shape{2, 3}));
  EXPECT_EQ(element(raw.tensor.view(), 5), 5.0);
  EXPECT_TRUE(read_onnx_tensor(folder / "scalar.pb")->tensor.shape.empty());
  const auto value = [&folder](const char* name) {
    return element(read_onnx_tensor(folder / name).value().tensor.view(), 0);
  };
  for (const char* name : {"FLOAT.pb", "DOUBLE.pb", "FLOAT16.pb", "BFLOAT16.pb"})
    EXPECT_EQ(value(name), 1.5) << name;
  EXPECT_EQ(value("INT8.pb"), -3);
  EXPECT_EQ(value("UINT8.pb"), 200);
  EXPECT_EQ(value("INT16.pb"), -300);
  EXPECT_EQ(value("UINT16.pb"), 60000);
  EXPECT_EQ(value("INT32.pb"), -70000);
  EXPECT_EQ(value("UINT32.pb"), 4000000000.0);
  EXPECT_EQ(value("INT64.pb"), -5000000000.0);
  EXPECT_EQ(value("UINT64.pb"), 5000000000.0);
  EXPECT_EQ(value("BOOL.pb"), 1);
  for (const char* name : {"string.pb", "short.pb", "negative.pb", "huge.pb", "external.pb",
                           "garbage.pb", "absent.pb"}) {
    const auto refused = read_onnx_tensor(folder / name);
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(refused.error().message.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace fiel

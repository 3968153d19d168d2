#include "model/onnx_model.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

constexpr const char* kMake = R"(
import onnx, numpy as np, os
from onnx import helper as h, TensorProto as T, numpy_helper
def value(name, type, shape): return h.make_tensor_value_info(name, type, shape)
def save(name, graph, **more):
    model = h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], producer_name='tests', producer_version='1')
    h.set_model_props(model, {'language': 'Latin'})
    onnx.save(model, name, **more)
w = numpy_helper.from_array(np.ones(1000, dtype=np.float32), 'w')
add = h.make_node('Add', ['x', 'w'], ['größe'], 'n1')
x = value('x', T.FLOAT, ['N', 3, None, 1000])
y = value('größe', T.FLOAT, None)
graph = h.make_graph([add], 'g', [x, value('w', T.FLOAT, [1000])], [y], [w])
)";

std::string message_of(const std::filesystem::path& path) {
  const auto model = read_onnx_model(path);
  return model ? "read" : model.error().message;
}

TEST(OnnxModel, SaysNamesTypesAndShapesWithoutInitialisers) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kMake) + "save('m.onnx', graph)"));
  const auto model = read_onnx_model(folder / "m.onnx");
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->inputs.size(), 1U);
  EXPECT_EQ(describe(model->inputs[0]), "x: float32 [N, 3, ?, 1000]");
  EXPECT_EQ(model->inputs[0].type_name, "tensor(float)");
  EXPECT_EQ(describe(*find_port(model->outputs, "größe")), "größe: float32 [...]");
  EXPECT_EQ(find_port(model->outputs, "y"), nullptr);
  EXPECT_EQ(model->opset, 17);
  EXPECT_EQ(model->producer, "tests 1");
  EXPECT_EQ(model->metadata.at("language"), "Latin");
  EXPECT_EQ(model->digest, sha256_file(folder / "m.onnx").value());
}

TEST(OnnxModel, PortsThatWeDoNotCarryKeepOnnxsWords) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kMake) + R"(
seq = h.make_value_info('s', h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, [1])))
save('m.onnx', h.make_graph([], 'g', [value('t', T.STRING, [2]), seq, value('i', T.INT4, [])], [y]))
)"));
  const auto model = read_onnx_model(folder / "m.onnx").value();
  EXPECT_EQ(describe(model.inputs[0]), "t: tensor(string) [2]");
  EXPECT_EQ(describe(model.inputs[1]), "s: sequence");
  EXPECT_EQ(describe(model.inputs[2]), "i: tensor(int4) []");
  EXPECT_FALSE(model.inputs[2].dtype);
}

TEST(OnnxModel, ExternalDataCountInTheDigest) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kMake) + R"(
save('m.onnx', graph, save_as_external_data=True, location='weights/m.bin' if os.makedirs('weights') is None else '', size_threshold=0)
)"));
  const auto before = read_onnx_model(folder / "m.onnx");
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_EQ(before->external_data.size(), 1U);
  EXPECT_EQ(before->external_data[0], folder / "weights/m.bin");
  std::string bytes = folder.read("weights/m.bin");
  bytes[0] ^= 1;
  folder.write("weights/m.bin", bytes);
  EXPECT_NE(read_onnx_model(folder / "m.onnx")->digest, before->digest);
  folder.write("weights/m.bin", bytes.substr(1));
  EXPECT_NE(message_of(folder / "m.onnx").find("3999 bytes, but the model uses 4000"),
            std::string::npos);
  std::filesystem::remove(folder / "weights/m.bin");
  EXPECT_NE(message_of(folder / "m.onnx").find("'weights/m.bin' are not in"), std::string::npos);
}

TEST(OnnxModel, ExternalDataOutsideTheFolderAreRefused) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kMake) + R"(
os.makedirs('in/sub'); open('secret', 'wb').write(bytes(4000)); os.symlink('../secret', 'in/link')
os.symlink('..', 'in/up')
def point(name, location, hide):
    t = onnx.TensorProto(); t.CopyFrom(w); t.ClearField('raw_data'); t.data_location = T.EXTERNAL
    if location is not None:
        e = t.external_data.add(); e.key = 'location'; e.value = location
    e = t.external_data.add(); e.key = 'length'; e.value = '4000' if name != 'length.onnx' else '-4'
    if hide:
        branch = h.make_graph([h.make_node('Constant', [], ['b'], value=t)], 'b', [], [value('b', T.FLOAT, [1000])])
        node = h.make_node('If', ['c'], ['größe'], then_branch=branch, else_branch=branch)
        g = h.make_graph([node], 'g', [value('c', T.BOOL, [])], [y])
    else:
        g = h.make_graph([add], 'g', [x], [y], [t])
    open('in/' + name, 'wb').write(h.make_model(g).SerializeToString())
point('up.onnx', '../secret', False)
point('hidden.onnx', '../secret', True)
point('absolute.onnx', os.path.abspath('secret'), False)
point('link.onnx', 'link', False)
point('uplink.onnx', 'up/secret', False)
point('folder.onnx', 'sub', False)
point('none.onnx', None, False)
point('length.onnx', 'link', False)
)"));
  const auto says = [&folder](const char* file, const char* what) {
    const std::string message = message_of(folder.path() / "in" / file);
    EXPECT_NE(message.find(what), std::string::npos) << file << ": " << message;
  };
  says("up.onnx", "'../secret' lie outside its folder");
  says("hidden.onnx", "'../secret' lie outside its folder");
  says("absolute.onnx", "lie outside its folder");
  says("link.onnx", "a link out of its folder");
  says("uplink.onnx", "a link out of its folder");
  says("folder.onnx", "are not in");
  says("none.onnx", "names no file");
  says("length.onnx", "'-4' as the length");
}

TEST(OnnxModel, WhatIsNoModelIsSaidToBeNone) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kMake) + R"(
save('good.onnx', graph)
good = open('good.onnx', 'rb').read()
open('cut.onnx', 'wb').write(good[:len(good) // 2])
open('nograph.onnx', 'wb').write(onnx.ModelProto(ir_version=8).SerializeToString())
twice = h.make_graph([add], 'g', [x, x], [y], [w])
open('twice.onnx', 'wb').write(h.make_model(twice).SerializeToString())
a, b = h.make_node('Add', ['x', 'q'], ['p'], 'a'), h.make_node('Relu', ['p'], ['q'], 'b')
open('circle.onnx', 'wb').write(h.make_model(h.make_graph([a, b], 'g', [x], [value('q', T.FLOAT, None)])).SerializeToString())
shadow = h.make_graph([h.make_node('Relu', ['x'], ['w']), h.make_node('Relu', ['w'], ['y'])], 'g', [x], [y], [w])
open('shadow.onnx', 'wb').write(h.make_model(shadow).SerializeToString())
open('noinput.onnx', 'wb').write(h.make_model(h.make_graph([], 'g', [], [y])).SerializeToString())
)"));
  folder.write("empty.onnx", "");
  folder.write("garbage.onnx", std::string(1000, '\xff'));
  folder.write("lfs.onnx", "version https://git-lfs.github.com/spec/v1\n");
  folder.write("page.onnx", "<!DOCTYPE html>");
  EXPECT_EQ(message_of(folder / "good.onnx"), "read");
  const auto says = [&folder](const char* file, const char* what) {
    const auto model = read_onnx_model(folder / file);
    ASSERT_FALSE(model) << file;
    EXPECT_EQ(model.error().kind, ErrorKind::kContract);
    EXPECT_NE(model.error().message.find(what), std::string::npos) << model.error().message;
    EXPECT_NE(model.error().message.find(file), std::string::npos);
    EXPECT_FALSE(model.error().hint.empty());
  };
  says("cut.onnx", "truncated");
  says("nograph.onnx", "no graph");
  says("twice.onnx", "two inputs named 'x'");
  says("circle.onnx", "in a circle through node 'a' (Add)");
  says("shadow.onnx", "a node of its graph makes 'w', which is an input or a weight too");
  says("noinput.onnx", "no inputs");
  says("empty.onnx", "empty");
  says("garbage.onnx", "no ONNX model");
  says("lfs.onnx", "Git LFS");
  says("page.onnx", "HTML");
  says("absent.onnx", "no such file");
  EXPECT_NE(message_of(folder.path()).find("it is no file"), std::string::npos);
}

TEST(OnnxModel, NoTruncationCrashes) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.python(std::string(kMake) + "save('m.onnx', h.make_graph([add], 'g', [x], [y]))"));
  const std::string bytes = folder.read("m.onnx");
  ASSERT_LT(bytes.size(), 1000U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    folder.write("cut.onnx", bytes.substr(0, size));
    (void)read_onnx_model(folder / "cut.onnx");
  }
}

}  // namespace
}  // namespace fiel

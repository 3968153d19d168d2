#include "gate/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing.h"
#include "model/npy.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

using testing::floats;
using testing::integers;
using testing::kAllDTypes;
using testing::kInfinity;
using testing::kNaN;
using testing::make_tensor;
using ::testing::HasSubstr;

class Reference : public ::testing::Test {
 protected:
  Reference() {
    set_.source = folder_ / "tuning";
    set_.digest = "set";
    for (const char* id : {"a", "b", "c"}) {
      Sample sample;
      sample.id = id;
      set_.samples.push_back(sample);
    }
    TaskRule task;
    task.name = "agree";
    task.builtin = BuiltinEvaluator::kAgreement;
    contract_.accuracy.tasks = {task};
  }
  std::filesystem::path file() const { return folder_ / "reference" / "set.pack"; }
  Result<ReferenceStore> create() {
    return ReferenceStore::create(contract_, set_, file(), folder_ / "scratch", -1);
  }
  static SampleOutputs outputs(int index, Tensor y) {
    SampleOutputs sample{.index = index, .tensors = {}};
    sample.tensors.emplace("y", std::move(y));
    return sample;
  }
  static Result<> add(ReferenceStore& store, const SampleOutputs& sample) { return store.add(std::span(&sample, 1)); }

  TestFolder folder_;
  Contract contract_;
  SampleSet set_;
};

TEST_F(Reference, KeepsEveryDtypeBitForBitInAnyOrder) {
  for (const DType dtype : kAllDTypes) {
    const auto of = [dtype](int i) { return outputs(i, make_tensor(dtype, {1, 3}, {0, 1, double(i % 2)})); };
    auto store = create();
    ASSERT_TRUE(store);
    for (const int i : {2, 0, 1}) ASSERT_TRUE(add(*store, of(i)));
    ASSERT_TRUE(store->finish());
    const auto opened = ReferenceStore::open(contract_, set_, file());
    ASSERT_TRUE(opened) << opened.error().message;
    for (const int i : {0, 1, 2}) {
      for (const ReferenceStore* one : std::initializer_list<const ReferenceStore*>{&*store, &*opened}) {
        const SampleOutputs kept{.index = i, .tensors = one->outputs(i).value()};
        EXPECT_EQ(output_digest(kept), output_digest(of(i))) << to_string(dtype);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one->views(i).at("y").bytes.data()) % 64, 0U);
      }
    }
    EXPECT_EQ(opened->mean_scores().at("agree"), 1);
    EXPECT_EQ(opened->traits().at("y").count, 9);
  }
}

TEST_F(Reference, AnUnfinishedOrDamagedStoreIsMadeAgain) {
  const auto is_corrupt = [&] {
    const auto opened = ReferenceStore::open(contract_, set_, file());
    return !opened && opened.error().kind == ErrorKind::kCorrupt;
  };
  EXPECT_TRUE(is_corrupt());
  auto store = create();
  for (const int i : {0, 1, 2}) ASSERT_TRUE(add(*store, outputs(i, floats({1, 2, double(i)}))));
  EXPECT_TRUE(is_corrupt());
  ASSERT_TRUE(store->finish());
  EXPECT_FALSE(is_corrupt());

  const std::string index = file().string() + ".json";
  std::ifstream in(index);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size < text.size(); size += 7) {
    std::ofstream(index, std::ios::trunc) << text.substr(0, size);
    EXPECT_TRUE(is_corrupt()) << size;
  }
  std::ofstream(index, std::ios::trunc) << text;
  EXPECT_FALSE(is_corrupt());
  {
    std::fstream pack(file(), std::ios::in | std::ios::out | std::ios::binary);
    pack.put('?');
  }
  EXPECT_TRUE(is_corrupt());
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  EXPECT_TRUE(is_corrupt());
}

TEST_F(Reference, AnotherSetOrTaskMakesItStale) {
  auto store = create();
  for (const int i : {0, 1, 2}) ASSERT_TRUE(add(*store, outputs(i, floats({1, 2, double(i)}))));
  ASSERT_TRUE(store->finish());
  set_.digest = "other";
  EXPECT_FALSE(ReferenceStore::open(contract_, set_, file()));
  set_.digest = "set";
  contract_.accuracy.tasks[0].name = "new";
  EXPECT_THAT(ReferenceStore::open(contract_, set_, file()).error().message, HasSubstr("task new"));
}

TEST_F(Reference, OneThatIsNotFiniteIsRefusedUnlessAllowed) {
  auto store = create();
  const auto added = add(*store, outputs(1, floats({1, kNaN, -kInfinity})));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::kContract);
  EXPECT_THAT(added.error().message, HasSubstr("output y of sample b has 2 values of 3"));
  EXPECT_THAT(added.error().hint, HasSubstr("where_reference_is"));
  TensorRule rule;
  rule.output = "y";
  rule.metric = TensorMetric::kCosine;
  rule.min = 0.9;
  rule.non_finite = NonFinite::kWhereReferenceIs;
  contract_.accuracy.tensors = {rule};
  auto allowed = create();
  EXPECT_TRUE(add(*allowed, outputs(1, floats({1, 2, -kInfinity}))));
}

TEST_F(Reference, OtherOutputsUnknownRulesAndWrongSizesAreNamed) {
  auto store = create();
  ASSERT_TRUE(add(*store, outputs(0, floats({1, 2}))));
  SampleOutputs renamed{.index = 1, .tensors = {}};
  renamed.tensors.emplace("z", floats({1, 2}));
  EXPECT_THAT(add(*store, renamed).error().message, HasSubstr("sample b"));
  SampleOutputs cut = outputs(1, floats({1, 2}));
  cut.tensors["y"].bytes.pop_back();
  EXPECT_EQ(add(*store, cut).error().kind, ErrorKind::kProtocol);
  EXPECT_EQ(add(*store, outputs(0, floats({1, 2}))).error().kind, ErrorKind::kProtocol);
  EXPECT_EQ(add(*store, outputs(3, floats({1, 2}))).error().kind, ErrorKind::kProtocol);
  TensorRule rule;
  rule.output = "logits";
  contract_.accuracy.tensors = {rule};
  auto other = create();
  EXPECT_THAT(add(*other, outputs(0, floats({1, 2}))).error().message, HasSubstr("names output logits"));
}

TEST_F(Reference, ConstantAndMostlyZeroOutputsAreMistrusted) {
  auto store = create();
  for (const int i : {0, 1, 2}) {
    SampleOutputs sample = outputs(i, floats({1, 2, double(i)}));
    sample.tensors.emplace("flat", floats({3, 3}));
    sample.tensors.emplace("sparse", floats({0, 0, double(i)}));
    ASSERT_TRUE(add(*store, sample));
  }
  ASSERT_TRUE(store->finish());
  EXPECT_THAT(store->mistrusted().at("flat"), HasSubstr("constant"));
  EXPECT_THAT(store->mistrusted().at("sparse"), HasSubstr("zeros"));
  EXPECT_FALSE(store->mistrusted().contains("y"));
}

TEST_F(Reference, BinaryScoresAreReadByWhatAllOfTheReferencesValuesAreLike) {
  contract_.accuracy.tasks[0].builtin = BuiltinEvaluator::kBinary;
  for (Sample& sample : set_.samples) sample.label = "1";
  auto store = create();
  ASSERT_TRUE(add(*store, outputs(0, floats({0.2}))));
  ASSERT_TRUE(add(*store, outputs(1, floats({0.3}))));
  ASSERT_TRUE(add(*store, outputs(2, floats({-4}))));  // so these are logits
  ASSERT_TRUE(store->finish());
  EXPECT_DOUBLE_EQ(store->mean_scores().at("agree"), 2.0 / 3);
  EXPECT_EQ(store->score_options(contract_.accuracy.tasks[0]).binary_threshold, 0);
}

TEST_F(Reference, FilesGiveTheSameStore) {
  contract_.accuracy.reference_files = folder_ / "outputs";
  std::filesystem::create_directories(folder_ / "outputs/tuning");
  const auto from_files = [&] {
    return reference_from_files(contract_, set_, file(), folder_ / "scratch", -1);
  };
  EXPECT_THAT(from_files().error().message, HasSubstr("reference outputs of sample a"));
  for (int i = 0; i < 3; ++i) {
    const Tensor y = floats({1, 2, double(i)});
    ASSERT_TRUE(write_npz(folder_ / "outputs/tuning" / (set_.samples[static_cast<std::size_t>(i)].id + ".npz"),
                          {{"y", y.view()}}));
  }
  const auto store = from_files();
  ASSERT_TRUE(store) << store.error().message;
  const SampleOutputs kept{.index = 2, .tensors = store->outputs(2).value()};
  EXPECT_EQ(output_digest(kept), output_digest(outputs(2, floats({1, 2, 2}))));

  const Tensor stacked = make_tensor(DType::kFloat32, {3, 3}, {1, 2, 0, 1, 2, 1, 1, 2, 2});
  ASSERT_TRUE(write_npz(folder_ / "outputs/tuning/outputs.npz", {{"y", stacked.view()}}));
  const auto again = from_files();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(output_digest({.index = 2, .tensors = again->outputs(2).value()}), output_digest(kept));
  set_.samples.pop_back();
  EXPECT_THAT(from_files().error().message, HasSubstr("has 2 samples"));
}

}  // namespace
}  // namespace fiel

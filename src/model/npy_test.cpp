#include "model/npy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "model/test_folder.h"

namespace fiel {
namespace {

std::string with_header(std::string_view dictionary, std::size_t data_bytes, char version = 1) {
  std::string file("\x93NUMPY", 6);
  file += version;
  file += '\0';
  file += static_cast<char>(dictionary.size() & 0xFF);
  file += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + std::string(dictionary) + std::string(data_bytes, '\0');
}

Result<Tensor> parse(const std::string& file) { return parse_npy(std::as_bytes(std::span(file))); }

std::string message_of_array(const std::string& file) {
  const auto result = parse(file);
  return result ? "parsed" : result.error().message;
}

TEST(Npy, WhatIsWrittenIsReadAgainForEveryDType) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 4}, Shape{1, 2, 3}}) {
      Tensor tensor{static_cast<DType>(i), shape, {}};
      tensor.bytes.resize(
          static_cast<std::size_t>(*element_count(shape)) * element_size(tensor.dtype),
          std::byte{1});
      const auto file = format_npy(tensor.view());
      EXPECT_EQ((file.size() - tensor.bytes.size()) % 64, 0U);
      const auto again = parse_npy(file);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->dtype, tensor.dtype);
      EXPECT_EQ(again->shape, tensor.shape);
      EXPECT_EQ(again->bytes, tensor.bytes);
    }
  }
}

TEST(Npy, NumPyAndWeReadEachOther) {
  const TestFolder folder;
  const float values[] = {0, 1, 2, 3, 4, 5};
  Tensor tensor{DType::kFloat32, {2, 3}, {}};
  tensor.bytes.resize(sizeof(values));
  std::memcpy(tensor.bytes.data(), values, sizeof(values));
  ASSERT_TRUE(write_npy(folder / "ours.npy", tensor.view()));
  ASSERT_TRUE(folder.python(R"(
import numpy as np, ml_dtypes
ours = np.load('ours.npy')
assert ours.dtype == np.float32 and (ours == np.arange(6).reshape(2, 3)).all()
np.save('c.npy', ours)
np.save('fortran.npy', np.asfortranarray(np.arange(24, dtype='<i2').reshape(2, 3, 4)))
np.save('big.npy', ours.astype('>f4'))
np.save('bf16.npy', np.array([1.5, -2], dtype=ml_dtypes.bfloat16))
np.save('scalar.npy', np.uint8(200))
np.save('text.npy', np.array(['a']))
np.save('object.npy', np.array([{}], dtype=object), allow_pickle=True)
np.save('record.npy', np.zeros(2, dtype=[('a', '<f4')]))
)"));
  EXPECT_EQ(read_npy(folder / "c.npy").value().bytes, tensor.bytes);
  const Tensor fortran = read_npy(folder / "fortran.npy").value();
  EXPECT_EQ(fortran.shape, (Shape{2, 3, 4}));
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(integer_element(fortran.view(), i), i);
  const Tensor bf16 = read_npy(folder / "bf16.npy").value();
  EXPECT_EQ(bf16.dtype, DType::kBFloat16);
  EXPECT_EQ(element(bf16.view(), 0), 1.5);
  EXPECT_EQ(integer_element(read_npy(folder / "scalar.npy").value().view(), 0), 200);
  EXPECT_NE(read_npy(folder / "big.npy").error().message.find("big-endian"), std::string::npos);
  for (const char* refused : {"text.npy", "object.npy", "record.npy", "absent.npy"}) {
    const auto result = read_npy(folder / refused);
    ASSERT_FALSE(result) << refused;
    EXPECT_NE(result.error().message.find(refused), std::string::npos);
  }
}

TEST(Npy, HostileHeadersAreRefusedBeforeMemoryIsTaken) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  EXPECT_TRUE(parse(with_header(good, 8)));
  EXPECT_TRUE(parse(with_header(good, 8, 2)));
  EXPECT_TRUE(parse(with_header("{\"shape\":(),\"descr\":\"|u1\",\"fortran_order\":True}", 1, 3)));
  for (const std::string& file : {
           std::string(),
           std::string("\x93NUM"),
           with_header(good, 7),
           with_header(good, 9),
           with_header(good, 8, 4),
           with_header(good, 8, 0),
           with_header(good + "x", 8),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", 8),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,}", 8),
           with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8),
           with_header("{'descr': '<f4', 'shape': (2,)}", 8),
           with_header("{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}", 8),
           with_header("{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}", 8),
           with_header("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16),
           with_header("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 16),
           with_header("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
                       8),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8),
           with_header("{'descr': '<f4", 0),
           with_header("", 0),
           with_header("{", 0),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,)}",
                       0),
           with_header(
               "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0),
           with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (70368744177664,)}", 16),
       }) {
    EXPECT_NE(message_of_array(file), "parsed") << file;
  }
  std::string long_header = with_header(good, 8, 2);
  long_header[10] = '\x7F';  // 8 MiB of header
  EXPECT_NE(message_of_array(long_header).find("its header claims"), std::string::npos);
}

TEST(Npy, ANameThatIsNowAPipeNowALinkAndNowAFileHoldsNobodyUp) {
  const TestFolder folder;
  const Tensor tensor{DType::kUInt8, {1}, {std::byte{7}}};
  ASSERT_TRUE(write_npy(folder / "file", tensor.view()));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("file", folder / "link");
  std::atomic<bool> done = false;
  std::thread worker([&] {  // renaming is atomic: whoever looks sees one of the three
    for (std::int64_t i = 0; !done; ++i) {
      const char* names[] = {"file", "pipe", "link"};
      const auto from = folder / names[i % 3];
      std::error_code code;
      std::filesystem::rename(from, folder / "name", code);
      std::filesystem::rename(folder / "name", from, code);
    }
  });
  int read = 0, refused = 0;
  for (int i = 0; i < 100'000 && (read < 20 || refused < 20); ++i) {
    const auto result = read_npy(folder / "name", Links::kRefused);
    ++(result ? read : refused);
    EXPECT_TRUE(!result || result->bytes == tensor.bytes);
  }
  done = true;
  worker.join();
  EXPECT_GE(read, 20);
}

TEST(Npy, AnyTruncationIsAnError) {
  const std::string file =
      with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(message_of_array(file.substr(0, size)), "parsed") << size;
  }
}

}  // namespace
}  // namespace fiel

#include <gtest/gtest.h>

#include <cstring>

#include "model/npy.h"
#include "model/npz_reader.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

std::string message_of_archive(const std::filesystem::path& path, std::int64_t max_bytes = 1 << 20) {
  const auto result = read_npz(path, max_bytes);
  return result ? "read" : result.error().message;
}

TEST(Npz, NumPyAndWeReadEachOther) {
  const TestFolder folder;
  Tensor tensor{DType::kInt16, {2}, {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}}};
  ASSERT_TRUE(write_npz(folder / "ours.npz", {{"a/b:0", tensor.view()}, {"größe", tensor.view()}}));
  ASSERT_TRUE(folder.python(R"(
import numpy as np
ours = np.load('ours.npz')
assert sorted(ours.files) == ['a/b:0', 'größe'], ours.files
assert ours['a/b:0'].dtype == np.int16 and ours['größe'].tolist() == [1, 2]
arrays = {'x': np.arange(6, dtype='<f4').reshape(2, 3), 'ü/y': np.asfortranarray(np.eye(2)[:, :1] * 3)}
np.savez('plain.npz', **arrays)
np.savez_compressed('packed.npz', **arrays)
)"));
  for (const char* name : {"plain.npz", "packed.npz"}) {
    const auto arrays = read_npz(folder / name);
    ASSERT_TRUE(arrays) << arrays.error().message;
    ASSERT_EQ(arrays->size(), 2U);
    EXPECT_EQ(element(arrays->at("x").view(), 5), 5.0);
    EXPECT_EQ(arrays->at("ü/y").shape, (Shape{2, 1}));
  }
}

TEST(Npz, EqualArraysMakeEqualFiles) {
  const TestFolder folder;
  const Tensor tensor{DType::kUInt8, {1}, {std::byte{7}}};
  ASSERT_TRUE(write_npz(folder / "1.npz", {{"x", tensor.view()}}));
  ASSERT_TRUE(write_npz(folder / "2.npz", {{"x", tensor.view()}}));
  EXPECT_EQ(folder.read("1.npz"), folder.read("2.npz"));
}

TEST(Npz, AnArrayCanBeReadInPiecesBesideAnother) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(R"(
import numpy as np
np.savez_compressed('s.npz', a=np.arange(4, dtype=np.uint8), b=np.arange(4, dtype=np.uint8) + 10)
)"));
  const auto reader = NpzReader::open(folder / "s.npz", 1 << 20);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->names(), (std::vector<std::string>{"a", "b"}));
  auto a = reader->open_array("a").value();
  auto b = reader->open_array("b").value();
  std::array<std::byte, 2> piece{};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(a.read(piece));
    EXPECT_EQ(std::to_integer<int>(piece[0]), 2 * i);
    ASSERT_TRUE(b.read(piece));
    EXPECT_EQ(std::to_integer<int>(piece[0]), 2 * i + 10);
  }
  EXPECT_FALSE(a.read(piece));
  EXPECT_FALSE(reader->open_array("c"));
}

TEST(Npz, OddArchivesAreRefusedByName) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(R"(
import io, warnings, zipfile, numpy as np
warnings.simplefilter('ignore')
buffer = io.BytesIO(); np.save(buffer, np.zeros(300000, dtype=np.uint8)); npy = buffer.getvalue()
def make(name, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, 'w', method) as z:
        for entry, data in entries: z.writestr(entry, data)
make('twice.npz', [('x.npy', npy), ('x.npy', npy)])
make('text.npz', [('x.npy', npy), ('readme.txt', 'hello')])
make('unnamed.npz', [('.npy', npy)])
make('bzip2.npz', [('x.npy', npy)], zipfile.ZIP_BZIP2)
make('short.npz', [('x.npy', npy[:-1])])
make('large.npz', [(f'{i}.npy', npy) for i in range(5)], zipfile.ZIP_DEFLATED)
make('empty.npz', [])
make('ok.npz', [('x.npy', npy)])
plain = open('ok.npz', 'rb').read()
at = plain.rfind(b'PK\x01\x02')
def patched(name, offset, value):
    data = bytearray(plain); data[at + offset:at + offset + len(value)] = value; open(name, 'wb').write(data)
patched('encrypted.npz', 8, b'\x01\x00')
patched('size.npz', 24, b'\xff\xff\xff\x7f')
patched('crc.npz', 16, b'\x00\x00\x00\x00')
packed = bytearray(open('large.npz', 'rb').read())
at = packed.find(b'PK\x01\x02'); packed[at + 24:at + 28] = b'\xff\xff\xff\x7f'; open('bomb.npz', 'wb').write(packed)
open('cut.npz', 'wb').write(plain[:-30])
open('garbage.npz', 'wb').write(bytes(range(256)) * 8)
)"));
  EXPECT_EQ(message_of_archive(folder / "ok.npz"), "read");
  const auto says = [&folder](const char* file, const char* what) {
    const std::string message = message_of_archive(folder / file);
    EXPECT_NE(message.find(what), std::string::npos) << file << ": " << message;
    EXPECT_NE(message.find(file), std::string::npos) << message;
  };
  says("twice.npz", "'x' is in it twice");
  says("text.npz", "'readme.txt' is no named .npy array");
  says("unnamed.npz", "'.npy' is no named");
  says("bzip2.npz", "compression method");
  says("short.npz", "takes 300000 bytes, but there are 299999");
  says("large.npz", "more than 1048576 bytes");
  says("encrypted.npz", "encrypted");
  says("size.npz", "of two sizes");
  says("bomb.npz", "more than it can");
  says("crc.npz", "CRC");
  says("cut.npz", "not an .npz file");
  says("garbage.npz", "not an .npz file");
  says("absent.npz", "no such file");
}

}  // namespace
}  // namespace fiel

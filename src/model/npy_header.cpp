#include "model/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace fiel {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 16 * 1024;  // NumPy itself reads 10,000 characters at most
constexpr std::size_t kMaxRank = 64;                // NumPy 2's own limit
constexpr std::size_t kPieceBytes = 256 * 1024;

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorKind::kContract, fmt::format("not an array that fiel reads: {}", message),
              "write it with numpy.save or numpy.savez");
}

/// The header is the text of a Python dictionary with three known keys; this reads that and nothing
/// more.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
  };

  Result<Fields> parse() {
    Fields fields;
    if (!take("{")) return malformed("its header is no dictionary");
    while (!take("}")) {
      FIEL_TRY(parse_entry(fields));
      if (take(",")) continue;
      if (!take("}")) return malformed("its header has no comma between entries");
      break;
    }
    skip_blanks();
    if (!rest_.empty()) return malformed("text follows its header's dictionary");
    return fields;
  }

 private:
  Result<> parse_entry(Fields& fields) {
    const std::string key = FIEL_TRY(parse_string());
    if (!take(":")) return malformed("its header has a key without a value");
    if (key == "descr" && !fields.descr) {
      skip_blanks();
      if (rest_.starts_with('[')) return malformed("it holds records (a structured dtype)");
      fields.descr = FIEL_TRY(parse_string());
    } else if (key == "fortran_order" && !fields.fortran_order) {
      if (take("True"))
        fields.fortran_order = true;
      else if (take("False"))
        fields.fortran_order = false;
      else
        return malformed("fortran_order is neither True nor False");
    } else if (key == "shape" && !fields.shape) {
      fields.shape = FIEL_TRY(parse_shape());
    } else {
      return malformed("its header has an unknown or a repeated key");
    }
    return {};
  }

  Result<std::string> parse_string() {
    skip_blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"'))
      return malformed("its header lacks a string");
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return malformed("a string in its header does not end");
    std::string text(rest_.substr(1, end - 1));
    if (text.find('\\') != std::string::npos)
      return malformed("a string in its header has escapes");
    rest_.remove_prefix(end + 1);
    return text;
  }

  Result<Shape> parse_shape() {
    if (!take("(")) return malformed("its shape is no tuple");
    Shape shape;
    while (!take(")")) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (code != std::errc() || size < 0)
        return malformed("its shape has an entry that is no size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape.push_back(size);
      if (shape.size() > kMaxRank) return malformed("it has more than 64 axes");
      if (take(",")) continue;
      // Without a comma, "(3)" would be a number and not a tuple.
      if (shape.size() < 2 || !take(")")) return malformed("its shape is no tuple");
      break;
    }
    return shape;
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  void skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

struct Code {
  std::string_view code;
  DType dtype;
};

// "V2" is what NumPy writes for the bfloat16 of ml_dtypes, which it does not know itself.
constexpr std::array kCodes{
    Code{"f8", DType::kFloat64},  Code{"f4", DType::kFloat32}, Code{"f2", DType::kFloat16},
    Code{"V2", DType::kBFloat16}, Code{"i8", DType::kInt64},   Code{"i4", DType::kInt32},
    Code{"i2", DType::kInt16},    Code{"i1", DType::kInt8},    Code{"u8", DType::kUInt64},
    Code{"u4", DType::kUInt32},   Code{"u2", DType::kUInt16},  Code{"u1", DType::kUInt8},
    Code{"b1", DType::kBool},
};

Result<DType> parse_descr(std::string_view descr) {
  if (descr.empty()) return malformed("its dtype is empty");
  const char order = descr[0];
  const auto found = std::ranges::find(kCodes, descr.substr(1), &Code::code);
  if (found == kCodes.end() || std::string_view("<>|").find(order) == std::string_view::npos) {
    return fail(ErrorKind::kContract,
                fmt::format("its dtype '{}' is none that fiel carries", descr),
                "known are floats of 2, 4 and 8 bytes, bfloat16, integers and bool");
  }
  if (element_size(found->dtype) == 1) return found->dtype;  // one byte has no order
  if (order == '>') {
    return fail(ErrorKind::kContract, fmt::format("its dtype '{}' is big-endian", descr),
                fmt::format("save it as little-endian: array.astype('<{}')", found->code));
  }
  if (order == '|' && found->dtype != DType::kBFloat16)
    return malformed("its dtype has no byte order");
  return found->dtype;
}

}  // namespace

Result<NpyHeader> read_npy_header(const ByteSource& source) {
  std::array<std::byte, 8> start{};
  FIEL_TRY(source(start));
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    return malformed("it does not begin as an .npy file does");
  }
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3)
    return malformed(fmt::format("its format version is {}", version));

  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::array<std::byte, 4> length_field{};
  FIEL_TRY(source(std::span(length_field).first(length_bytes)));
  std::uint32_t length = 0;
  std::memcpy(&length, length_field.data(), length_field.size());
  if (length > kMaxHeaderBytes) return malformed(fmt::format("its header claims {} bytes", length));

  std::string text(length, '\0');
  FIEL_TRY(source(std::as_writable_bytes(std::span(text))));
  const auto fields = FIEL_TRY(HeaderParser(text).parse());
  if (!fields.descr || !fields.fortran_order || !fields.shape) {
    return malformed("its header lacks descr, fortran_order or shape");
  }
  NpyHeader header;
  header.dtype = FIEL_TRY(parse_descr(*fields.descr));
  header.shape = *fields.shape;
  header.fortran_order = *fields.fortran_order;
  header.data_offset = static_cast<std::int64_t>(start.size() + length_bytes + length);
  const auto count = element_count(header.shape);
  if (!count) return malformed(fmt::format("its shape {} is too large", to_string(header.shape)));
  header.data_bytes = *count * static_cast<std::int64_t>(element_size(header.dtype));
  return header;
}

Result<Tensor> read_npy_array(const ByteSource& source, std::int64_t file_bytes) {
  const NpyHeader header = FIEL_TRY(read_npy_header(source));
  if (header.data_offset + header.data_bytes != file_bytes) {
    return malformed(fmt::format("{} {} takes {} bytes of data, but there are {}",
                                 to_string(header.dtype), to_string(header.shape),
                                 header.data_bytes, file_bytes - header.data_offset));
  }
  Tensor tensor{header.dtype, header.shape, {}};
  // Piece by piece through the cache: resize() would write zeros all over the memory first.
  const auto size = static_cast<std::size_t>(header.data_bytes);
  tensor.bytes.reserve(size);
  std::vector<std::byte> piece(std::min<std::size_t>(size, kPieceBytes));
  while (tensor.bytes.size() < size) {
    const auto part = std::span(piece).first(std::min(piece.size(), size - tensor.bytes.size()));
    FIEL_TRY(source(part));
    tensor.bytes.insert(tensor.bytes.end(), part.begin(), part.end());
  }
  if (header.fortran_order) to_c_order(tensor);
  return tensor;
}

void to_c_order(Tensor& tensor) {
  const Shape& shape = tensor.shape;
  if (shape.size() < 2 || tensor.bytes.empty()) return;
  const std::size_t size = element_size(tensor.dtype);
  std::vector<std::size_t> stride(shape.size());  // in the source, in elements
  std::size_t product = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = product;
    product *= static_cast<std::size_t>(shape[axis]);
  }
  std::vector<std::byte> target(tensor.bytes.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < product; ++to) {
    std::memcpy(target.data() + to * size, tensor.bytes.data() + from * size, size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  tensor.bytes = std::move(target);
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  const auto found = std::ranges::find(kCodes, dtype, &Code::dtype);
  FIEL_CHECK(found != kCodes.end() && shape.size() <= kMaxRank);
  std::string dictionary =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  element_size(dtype) == 1 ? '|' : '<', found->code, fmt::join(shape, ", "),
                  shape.size() == 1 ? "," : "");
  // NumPy pads so that the data begin at a multiple of 64; the header ends with a newline.
  constexpr std::size_t kPreface = 10;
  dictionary.append(63 - (kPreface + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFF),
             static_cast<char>(dictionary.size() >> 8)};
  return header + dictionary;
}

}  // namespace fiel

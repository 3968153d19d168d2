// For tests and fuzzing only: small models of formats that are not ONNX. Both double "x", float32.
#pragma once

#include <string>
#include <string_view>

namespace fiel {

/// With a loop's body, whose layers are nobody's ports, and names that need care.
inline constexpr std::string_view kSmallIr = R"(<?xml version="1.0"?>
<!-- <net> -->
<net name="doubled" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="?,10" element_type="f32" />
      <output><port id="0" precision="FP32" names="x,other\,name"><dim>-1</dim><dim>10</dim></port></output>
    </layer>
    <layer id="1" name="add &amp; more" type="Add" version="opset1">
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>10</dim></port><port id="1" precision="FP32"><dim>-1</dim><dim>10</dim></port></input>
      <output><port id="2" precision="FP32" names="z,y"><dim>-1</dim><dim>10</dim></port></output>
      <body><layers><layer id="0" name="inner" type="Parameter"><output><port id="0" precision="U4"/></output></layer></layers></body>
    </layer>
    <layer id="2" name="y/sink_port_0" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>10</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
    <edge from-layer="0" from-port="0" to-layer="1" to-port="1" />
    <edge from-layer="1" from-port="2" to-layer="2" to-port="0" />
  </edges>
  <rt_info><conversion_parameters/></rt_info>
</net>
)";

/// One ADD of "x" and itself to "y", [1, 10], as FlatBuffers' own builder writes it (tests/e2e/test_formats.py).
inline std::string small_tflite() {
  constexpr std::string_view kDigits =
      "1800000054464c3300000e00140010000c000800000004000e00000010000000140000001800000003000000010000001800000001000000340000000100000018"
      "000000040006000400000000000a0008000000000004000a000000010000000c00140010000c00080004000c0000001000000014000000180000005c0000000100"
      "0000240000000100000001000000010000000000000000000e001400000010000c000b0004000e000000280000000000000b080000000c00000001000000010000"
      "000200000000000000000000000400040004000000020000003400000004000000e0ffffff140000000400000002000000010000000a00000001000000790000"
      "000c000c0008000000000004000c000000140000000400000002000000010000000a0000000100000078000000";
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < kDigits.size(); i += 2) bytes += static_cast<char>(16 * value(kDigits[i]) + value(kDigits[i + 1]));
  return bytes;
}

}  // namespace fiel

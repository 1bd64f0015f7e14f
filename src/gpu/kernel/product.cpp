// How convolutions become products.
#include "gpu/kernel/product.h"

#include <algorithm>

namespace infold::gpu {

namespace {
Window window_of(const Conv& c) {
  return {.height = c.height,
          .width = c.width,
          .out_height = c.out_height(),
          .out_width = c.out_width(),
          .stride = c.stride,
          .pad = c.pad(),
          .taps_across = c.size,
          .taps = c.size * c.size,
          .channels = c.channels};
}
}  // namespace

ConvTensors conv_tensors(AddressSpace& addresses, const Conv& c, Precision precision) {
  const int e = element_bytes(precision);
  return {addresses.tensor(c.pixels(), c.channels, e),
          addresses.tensor(c.out_pixels(), c.filters, result_bytes(precision)),
          addresses.tensor(c.filters, c.size * c.size * c.channels, e)};
}

Product matrix_product(const Tensor& left, const Tensor& right, const Tensor& out, Precision precision) {
  return {.m = left.rows(),
          .n = right.cols(),
          .k = left.cols(),
          .precision = precision,
          .left = {Operand::Kind::kRows, left},
          .right = {Operand::Kind::kCols, right},
          .out = out,
          .input = left.bytes() + right.bytes(),
          .flops = 2.0 * static_cast<double>(left.rows()) * static_cast<double>(right.cols()) *
                   static_cast<double>(left.cols())};
}

Product conv_forward(const Conv& c, const ConvTensors& t, Precision precision) {
  return {.m = c.out_pixels(),
          .n = c.filters,
          .k = c.size * c.size * c.channels,
          .precision = precision,
          .left = {Operand::Kind::kPatches, t.in, window_of(c)},
          .right = {Operand::Kind::kRows, t.filter},
          .out = t.out,
          .input = t.in.bytes() + t.filter.bytes(),
          .flops = c.flops()};
}

/// An input pixel receives from the taps that reach it. With a stride, pixels fall into stride x stride
/// classes that see different taps. Each class is a separate product over the pixels of the output, and on
/// average it has 1 / stride^2 of the taps.
Product conv_data_gradient(const Conv& c, const ConvTensors& t, Precision precision) {
  const std::int64_t classes = c.stride * c.stride;
  Window w;
  w.height = w.out_height = c.out_height();
  w.width = w.out_width = c.out_width();
  w.pad = std::max<std::int64_t>(c.size - 1 - c.pad(), 0) / c.stride;
  w.taps_across = std::max<std::int64_t>(c.size / c.stride, 1);
  w.taps = w.taps_across * w.taps_across;
  w.channels = c.filters;
  Window filter = w;
  filter.channels = c.channels;
  return {.m = c.pixels(),
          .n = c.channels,
          .k = std::max<std::int64_t>(c.size * c.size * c.filters / classes, 1),
          .precision = precision,
          .left = {Operand::Kind::kPatches, t.out, w},
          .right = {Operand::Kind::kFilterAcross, t.filter, filter},
          .out = t.in,
          .input = t.out.bytes() + t.filter.bytes(),
          .flops = c.flops()};
}

Product conv_filter_gradient(const Conv& c, const ConvTensors& t, Precision precision) {
  return {.m = c.filters,
          .n = c.size * c.size * c.channels,
          .k = c.out_pixels(),
          .precision = precision,
          .left = {Operand::Kind::kCols, t.out},
          .right = {Operand::Kind::kPatchesAcross, t.in, window_of(c)},
          .out = t.filter,
          .input = t.in.bytes() + t.out.bytes(),
          .flops = c.flops()};
}

}  // namespace infold::gpu

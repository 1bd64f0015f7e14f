// Matrix products and convolutions in one form: out[m x n] = sum over k of left x right.
#pragma once

#include <cstdint>

#include "gpu/kernel/precision.h"
#include "gpu/memory/operand.h"
#include "gpu/memory/tensor.h"

namespace infold::gpu {

/// With several groups (routed experts), products of one shape make up one kernel: the rows of each tensor
/// are divided evenly among them, and m, n and k are those of one.
struct Product {
  std::int64_t groups = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  Precision precision = Precision::kFp16;
  Operand left;
  Operand right;
  Tensor out;        ///< m x n, for each group
  sim::Bytes input;  ///< bytes of both operands, each counted once
  double flops = 0;
};

/// The shape of a convolution. Images are stored pixel by pixel (NHWC).
struct Conv {
  std::int64_t batch = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t channels = 1;
  std::int64_t filters = 1;
  std::int64_t size = 1;  ///< side of the filter
  std::int64_t stride = 1;
  std::int64_t padding = -1;  ///< padding at each edge; -1: as much as keeps the size at stride 1

  std::int64_t pad() const { return padding < 0 ? (size - 1) / 2 : padding; }
  std::int64_t out_height() const { return (height + 2 * pad() - size) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * pad() - size) / stride + 1; }
  std::int64_t pixels() const { return batch * height * width; }
  std::int64_t out_pixels() const { return batch * out_height() * out_width(); }
  double flops() const {
    return 2.0 * static_cast<double>(out_pixels()) * static_cast<double>(filters) *
           static_cast<double>(channels * size * size);
  }
};

/// The tensors of a layer, or their gradients, which have the same shapes.
struct ConvTensors {
  Tensor in;      ///< pixels x channels
  Tensor out;     ///< pixels x filters
  Tensor filter;  ///< filters x (taps x channels)
};
ConvTensors conv_tensors(AddressSpace& addresses, const Conv& conv, Precision precision);

/// left: m x k, right: k x n, out: m x n.
Product matrix_product(const Tensor& left, const Tensor& right, const Tensor& out, Precision precision);
Product conv_forward(const Conv& conv, const ConvTensors& t, Precision precision);
/// t.out and t.in are gradients; t.in is computed.
Product conv_data_gradient(const Conv& conv, const ConvTensors& t, Precision precision);
/// t.out and t.filter are gradients; t.filter is computed.
Product conv_filter_gradient(const Conv& conv, const ConvTensors& t, Precision precision);

}  // namespace infold::gpu

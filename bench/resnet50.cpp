// ResNet-50 (v1.5: the stride is in the 3x3 convolution), 16-bit, pixels x channels.
#include "resnet50.h"

#include <vector>

namespace infold::bench {

namespace {

using gpu::Conv;
using gpu::Tensor;
constexpr auto kHalf = gpu::Precision::kFp16;

/// A convolution with its batch-norm: what forward left behind.
struct Layer {
  Conv conv;
  Tensor in;          // the convolution's input
  Tensor normalised;  // its output, the batch-norm's input
  Tensor out;         // after batch-norm and activation
  Tensor filter;
};

struct Block {
  std::vector<Layer> layers;  // one after the other
  std::vector<Layer> shortcut;
  Tensor in;
};

class Backward {
 public:
  Backward(gpu::Core& core, gpu::KernelList& list, std::int64_t batch)
      : core_(core), list_(list), batch_(batch) {}

  void build() {
    Tensor image =
        core_.addresses().tensor(batch_ * 224 * 224, 4, 2);  // three channels and one for alignment
    const Layer stem = layer(image, 224, 4, 64, 7, 2);
    Tensor at = core_.addresses().tensor(batch_ * 56 * 56, 64, 2);
    const Tensor pooled = at;
    std::vector<Block> blocks;
    std::int64_t channels = 64;
    std::int64_t side = 56;
    const int depths[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      const std::int64_t narrow = std::int64_t{64} << stage;
      for (int i = 0; i < depths[stage]; ++i) {
        const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        Block b;
        b.in = at;
        b.layers.push_back(layer(at, side, channels, narrow, 1, 1));
        b.layers.push_back(layer(b.layers[0].out, side, narrow, narrow, 3, stride));
        b.layers.push_back(layer(b.layers[1].out, side / stride, narrow, narrow * 4, 1, 1));
        if (i == 0) b.shortcut.push_back(layer(at, side, channels, narrow * 4, 1, stride));
        at = b.layers[2].out;
        channels = narrow * 4;
        side /= stride;
        blocks.push_back(b);
      }
    }
    head(at);
    Tensor gradient = like(at);
    for (auto b = blocks.rbegin(); b != blocks.rend(); ++b) gradient = through(*b, gradient);
    // The pooling layer, then the first convolution, whose input needs no gradient.
    const Tensor before_pool = like(stem.out);
    list_.elementwise({stem.out}, {before_pool}, 4);
    list_.elementwise({pooled, gradient}, {like(pooled)}, 1);
    const Tensor d = activation(stem, before_pool);
    const Tensor dx = like(d);
    list_.batch_norm_backward(stem.normalised, d, dx, gpu::Residency::kAny);
    list_.add(conv_filter_gradient(stem.conv, {stem.in, dx, like(stem.filter)}, kHalf));
  }

 private:
  Tensor like(const Tensor& t) { return core_.addresses().tensor(t.rows(), t.cols(), t.element_bytes()); }

  Layer layer(const Tensor& in, std::int64_t side, std::int64_t channels, std::int64_t filters,
              std::int64_t size, std::int64_t stride) {
    const Conv c{.batch = batch_,
                 .height = side,
                 .width = side,
                 .channels = channels,
                 .filters = filters,
                 .size = size,
                 .stride = stride};
    const gpu::ConvTensors t = conv_tensors(core_.addresses(), c, kHalf);
    return {c, in, t.out, like(t.out), t.filter};
  }

  /// The classifier: pooled features times a matrix of 2048 x 1000.
  void head(const Tensor& features) {
    const Tensor x = core_.addresses().tensor(batch_, 2048, 2);
    const Tensor w = core_.addresses().tensor(1000, 2048, 2);
    const Tensor dy = core_.addresses().tensor(batch_, 1000, 2);
    const Tensor dyt = core_.addresses().tensor(1000, batch_, 2);
    list_.add(matrix_product(dyt, x, like(w), kHalf));
    list_.add(matrix_product(dy, w, like(x), kHalf));
    list_.elementwise({}, {like(features)}, 1);
  }

  Tensor activation(const Layer& l, const Tensor& gradient) {
    const Tensor d = like(gradient);
    list_.elementwise({l.out, gradient}, {d}, 2);
    return d;
  }

  /// Batch-norm and convolution; returns the gradient of the layer's input.
  Tensor through(const Layer& l, const Tensor& gradient) {
    const Tensor dx = like(gradient);
    list_.batch_norm_backward(l.normalised, gradient, dx, gpu::Residency::kAny);
    const Tensor d_in = like(l.in);
    list_.add(conv_filter_gradient(l.conv, {l.in, dx, like(l.filter)}, kHalf));
    list_.add(conv_data_gradient(l.conv, {d_in, dx, l.filter}, kHalf));
    return d_in;
  }

  Tensor through(const Block& b, const Tensor& gradient) {
    const Tensor at_sum = activation(b.layers[2], gradient);
    Tensor d = through(b.layers[2], at_sum);
    d = through(b.layers[1], activation(b.layers[1], d));
    d = through(b.layers[0], activation(b.layers[0], d));
    const Tensor other = b.shortcut.empty() ? at_sum : through(b.shortcut[0], at_sum);
    const Tensor sum = like(b.in);
    list_.elementwise({d, other}, {sum}, 1);
    return sum;
  }

  gpu::Core& core_;
  gpu::KernelList& list_;
  std::int64_t batch_;
};

}  // namespace

void add_resnet50_backward(gpu::Core& core, gpu::KernelList& list, std::int64_t batch) {
  Backward(core, list, batch).build();
}

}  // namespace infold::bench

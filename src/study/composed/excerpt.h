// A piece of a graph's compute that can run by itself: some operations with kernels, in their order, with the
// tensors and buffers that they touch and nothing else. Pieces that do the same are equal, wherever in a
// graph they come from.
#pragma once

#include <span>
#include <vector>

#include "study/composed/content_key.h"
#include "work/graph.h"

namespace infold::study::composed {

/// The tensors and buffers that an operation with kernels touches. A buffer is told by the part of it.
struct Touch {
  bool is_buffer = false;
  int number = 0;           ///< of the tensor or the buffer
  std::int64_t offset = 0;  ///< in the buffer
  std::int64_t bytes = 0;
};
std::vector<Touch> touches_of(const work::Graph& graph, const work::Operation& op);

/// Whether an operation consists of kernels.
bool has_kernels(const work::Operation& op);
/// Whether an operation is a communication that reads and writes tensors of kernels, and so changes what
/// caches hold for them.
bool moves_tensors(const work::Graph& graph, const work::Operation& op);

/// One script with one stream of compute that runs copies of these operations. Operation i of the result is
/// the i-th of them; for a communication of tensors, a kernel that reads and writes the same. No ranks yet.
work::Graph excerpt_of(const work::Graph& graph, std::span<const work::OpId> ops);

/// What an excerpt does.
void add(ContentKey& key, const work::Graph& excerpt);
/// What one operation does, without saying which tensors it shares with others.
void add_shape(ContentKey& key, const work::Graph& graph, const work::Operation& op);

}  // namespace infold::study::composed

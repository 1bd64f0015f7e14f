// What a tile of fused attention loads, computes and stores.
#include "gpu/kernel/attention.h"

#include <algorithm>

namespace infold::gpu {

namespace {
/// Operations per score: an exponential with its subtraction of the maximum, scaling, summing and conversion.
constexpr double kSoftmaxOps = 14;
}  // namespace

AttentionTensors attention_tensors(AddressSpace& addresses, const Attention& a) {
  const std::int64_t queries = a.batch * a.sequence;
  const std::int64_t keys = a.batch * a.all_keys();
  const std::int64_t kv_heads = a.heads / a.sharing();
  const int e = element_bytes(a.precision);
  const auto make = [&](std::int64_t rows, std::int64_t heads, std::int64_t size, int bytes) {
    return addresses.tensor(rows, heads * size, bytes);
  };
  return {make(queries, a.heads, a.head_size, e), make(keys, kv_heads, a.head_size, e),
          make(keys, kv_heads, a.values(), e),    make(queries, a.heads, a.values(), e),
          make(queries, a.heads, a.head_size, 4), make(keys, a.heads, a.head_size, e),
          make(keys, a.heads, a.values(), e),     make(queries, a.heads, a.values(), e)};
}

AttentionKernel::AttentionKernel(Core& core, const Attention& attention, const AttentionTensors& tensors,
                                 bool backward)
    : TileLoop(core, Actor::kCompute, 2),
      attention_(attention),
      t_(tensors),
      backward_(backward),
      query_tiles_((attention.sequence + kTile - 1) / kTile),
      key_tiles_((attention.all_keys() + kTile - 1) / kTile) {
  const SmSpec& sm = core.spec().sm;
  const std::int64_t queries = std::min(kTile, attention.sequence);
  const std::int64_t keys = std::min(kTile, attention.all_keys());
  const auto own = static_cast<double>(backward ? keys : queries);
  const auto walked = static_cast<double>(backward ? queries : keys);
  const auto both = static_cast<double>(attention.head_size + attention.values());
  const double e = element_bytes(attention.precision);
  const double matrix = attention.features(backward) * 2 * own * walked / matrix_ops(sm, attention.precision);
  const double softmax = own * walked * kSoftmaxOps / sm.vector32;
  const double port = static_cast<double>(core.spec().sm_port.count());
  pace_ = {.matrix = clocks(matrix, sm.matrix_clock),
           .issue = clocks(sm.slab_issue, sm.matrix_clock),
           .sync = clocks(sm.slab_sync + softmax, sm.matrix_clock),
           .load_port = clocks(walked * both * e / port, sm.matrix_clock),
           .store_port = clocks(own * (backward ? both : static_cast<double>(attention.values())) * e / port,
                                sm.matrix_clock)};
}

Launch AttentionKernel::launch() {
  const std::int64_t shared = (stages_ + 1) * kTile * (attention_.head_size + attention_.values()) *
                              element_bytes(attention_.precision);
  return {.work = this,
          .workgroups =
              static_cast<int>(attention_.batch * attention_.heads * (backward_ ? key_tiles_ : query_tiles_)),
          .footprint = {.threads = 256,
                        .shared_memory = sim::min(sim::Bytes{shared}, core_.spec().sm.shared_memory),
                        .registers = sim::min(sim::Bytes{128 * 1024}, core_.spec().sm.registers)}};
}

std::int64_t AttentionKernel::own_rows(const Workgroup& w) const {
  const std::int64_t sequence = backward_ ? attention_.all_keys() : attention_.sequence;
  return std::min(kTile, sequence - w.row % sequence);
}

void AttentionKernel::assign(Workgroup& w) {
  const std::int64_t tiles = backward_ ? key_tiles_ : query_tiles_;
  const std::int64_t tile = w.index % tiles;
  const std::int64_t head = w.index / tiles % attention_.heads;
  const std::int64_t image = w.index / tiles / attention_.heads;
  const std::int64_t walked = backward_ ? attention_.sequence : attention_.all_keys();
  w.from = image * walked;
  w.to = w.from + walked;
  w.row = image * (backward_ ? attention_.all_keys() : attention_.sequence) + tile * kTile;
  w.col = head;
  // With a causal mask, queries walk up to their own keys, and keys begin at their own queries.
  w.first_slab = 0;
  std::int64_t end = backward_ ? query_tiles_ : key_tiles_;
  if (attention_.causal && !backward_) end = position(tile) + 1;
  if (attention_.causal && backward_) {
    const std::int64_t front = query_tiles_ / 2;
    const std::int64_t back = tile - (key_tiles_ - query_tiles_);
    w.first_slab = tile < front ? tile : std::max(front, back);
  }
  w.slabs = static_cast<int>(end - w.first_slab);
}

sim::Time AttentionKernel::move(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t head,
                                std::int64_t size, Way way, sim::Time now) {
  sim::Time done = now;
  const std::int64_t col = head * size;
  const std::int64_t bh = t.block_rows();
  const std::int64_t bw = t.block_cols();
  const std::int64_t col_end = col + size;
  for (std::int64_t i = row / bh; i * bh < row + rows; ++i) {
    const std::int64_t high = std::min(row + rows, (i + 1) * bh) - std::max(row, i * bh);
    for (std::int64_t j = col / bw; j * bw < col_end; ++j) {
      const std::int64_t wide = std::min(col_end, (j + 1) * bw) - std::max(col, j * bw);
      const Block block = t.at(i, j);
      const auto n = static_cast<std::uint32_t>(high * wide * t.element_bytes());
      done = sim::max(done, way == Way::kRead ? core_.memory().read(actor_, block, n, n, now)
                                              : core_.memory().write(actor_, block, n, now));
    }
  }
  return done;
}

sim::Time AttentionKernel::load(Workgroup& w, int slab, sim::Time now) {
  const std::int64_t row = w.from + (w.first_slab + slab) * kTile;
  const std::int64_t rows = std::min(kTile, w.to - row);
  const std::int64_t own = own_rows(w);
  const std::int64_t size = attention_.head_size;
  const std::int64_t values = attention_.values();
  const std::int64_t shared = w.col / attention_.sharing();
  sim::Time ready = now;
  if (slab == 0) {  // what the workgroup holds for the whole loop
    ready =
        move(backward_ ? t_.key : t_.query, w.row, own, backward_ ? shared : w.col, size, Way::kRead, now);
    if (backward_) ready = sim::max(ready, move(t_.value, w.row, own, shared, values, Way::kRead, now));
  }
  if (backward_) {
    ready = sim::max(ready, move(t_.query, row, rows, w.col, size, Way::kRead, now));
    ready = sim::max(ready, move(t_.d_out, row, rows, w.col, values, Way::kRead, now));
    move(t_.d_query, row, rows, w.col, size, Way::kWrite, now);
    return ready;
  }
  ready = sim::max(ready, move(t_.key, row, rows, shared, size, Way::kRead, now));
  return sim::max(ready, move(t_.value, row, rows, shared, values, Way::kRead, now));
}

sim::Time AttentionKernel::store(Workgroup& w, sim::Time now) {
  const std::int64_t own = own_rows(w);
  if (!backward_) return move(t_.out, w.row, own, w.col, attention_.values(), Way::kWrite, now);
  return sim::max(move(t_.d_key, w.row, own, w.col, attention_.head_size, Way::kWrite, now),
                  move(t_.d_value, w.row, own, w.col, attention_.values(), Way::kWrite, now));
}

}  // namespace infold::gpu

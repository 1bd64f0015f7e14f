// What a workload file says of each value: one list of fields, which the reader and the writer both walk.
//
// A walker has `item(name, value)` for what must be there, and `field(name, value, usual)` for what is left
// out where it is as usual. Values are numbers, texts, enums with names, Time (picoseconds), Bytes, lists,
// and structs that have a walk().
#pragma once

#include <array>
#include <span>

#include "study/replay/workload.h"
#include "work/graph.h"

namespace infold::work {

inline constexpr std::array kRoleNames = {
    sim::Named{TensorSpec::Role::kPassing, "passing", "lives from its first write to its last read"},
    sim::Named{TensorSpec::Role::kWeight, "weight", "lives for the whole step"},
    sim::Named{TensorSpec::Role::kGradient, "gradient", "gradient of a parameter"},
    sim::Named{TensorSpec::Role::kOptimizer, "optimizer", "state of the optimizer"},
    sim::Named{TensorSpec::Role::kPart, "part", "a part of another tensor, in the memory of that"},
};
constexpr std::span<const sim::Named<TensorSpec::Role>> names_of(TensorSpec::Role) {
  return kRoleNames;
}
inline constexpr std::array kWayNames = {
    sim::Named{Convolve::Way::kForward, "forward", "the convolution"},
    sim::Named{Convolve::Way::kDataGradient, "data-gradient", "the gradient of its input"},
    sim::Named{Convolve::Way::kFilterGradient, "filter-gradient", "the gradient of its filter"},
};
constexpr std::span<const sim::Named<Convolve::Way>> names_of(Convolve::Way) {
  return kWayNames;
}
inline constexpr std::array kStreamKindNames = {
    sim::Named{Stream::Kind::kCompute, "compute", "kernels, copies, markers"},
    sim::Named{Stream::Kind::kBeside, "beside", "copies for communication, in the order of readiness"},
    sim::Named{Stream::Kind::kCommunication, "communication", "collectives and transfers of a communicator"},
    sim::Named{Stream::Kind::kHost, "host", "delays"},
};
constexpr std::span<const sim::Named<Stream::Kind>> names_of(Stream::Kind) {
  return kStreamKindNames;
}

}  // namespace infold::work

namespace infold::formats {

/// What a file must not exceed.
inline constexpr int kMostTraceRanks = 16384;
inline constexpr std::size_t kMostOperations = 4'000'000;
inline constexpr std::int64_t kMostWorkBytes = std::int64_t{1} << 44;
inline constexpr std::int64_t kMostWorkTime = std::int64_t{1} << 54;  // in picoseconds: five hours

template <class W>
void walk(W& w, work::TensorSpec& t) {
  w.field("role", t.role);
  w.field("rows", t.rows, 1);
  w.field("cols", t.cols, 1);
  w.field("element_bytes", t.element_bytes, 2);
}
template <class W>
void walk(W& w, work::Buffer& b) {
  w.item("bytes", b.bytes);
  w.field("input", b.input, -1);
  w.field("output", b.output, -1);
  w.field("element_bytes", b.element_bytes);
}
template <class W>
void walk(W& w, work::Communicator& c) {
  w.item("name", c.name);
  w.item("groups", c.groups);
  w.field("priority", c.priority);
  w.field("channels", c.channels);
}
template <class W>
void walk(W& w, work::MatMul& m) {
  w.item("left", m.left);
  w.field("left_by_k", m.left_by_k);
  w.item("right", m.right);
  w.field("right_by_k", m.right_by_k);
  w.item("out", m.out);
  w.field("groups", m.groups, 1);
  w.field("of_weights", m.of_weights);
}
template <class W>
void walk(W& w, work::Convolve& c) {
  w.field("way", c.way);
  w.item("height", c.height);
  w.item("width", c.width);
  w.item("channels", c.channels);
  w.item("filters", c.filters);
  w.field("size", c.size, 1);
  w.field("stride", c.stride, 1);
  w.field("pad", c.pad);
  w.item("in", c.in);
  w.item("out", c.out);
  w.item("filter", c.filter);
}
template <class W>
void walk(W& w, work::Attend& a) {
  w.field("backward", a.backward);
  w.field("causal", a.causal);
  w.item("sequence", a.sequence);
  w.item("heads", a.heads);
  w.item("head_size", a.head_size);
  w.field("kv_heads", a.kv_heads, 1);
  w.field("value_size", a.value_size, 1);
  w.field("keys", a.keys);
  w.item("query", a.query);
  w.item("key", a.key);
  w.item("value", a.value);
  w.item("out", a.out);
  w.field("d_query", a.d_query);
  w.field("d_key", a.d_key);
  w.field("d_value", a.d_value);
  w.field("d_out", a.d_out);
}
template <class W>
void walk(W& w, work::Streaming::Pass& p) {
  w.field("reads", p.reads);
  w.field("writes", p.writes);
  w.field("ops_per_element", p.ops_per_element, 1);
}
template <class W>
void walk(W& w, work::Streaming& s) {
  w.item("passes", s.passes);
}
template <class W>
void walk(W& w, work::Copy& c) {
  w.item("tensor", c.tensor);
  w.item("buffer", c.buffer);
  w.field("offset", c.offset);
  w.field("back", c.back);
  w.field("ops_per_element", c.ops_per_element);
  w.field("for_communication", c.for_communication);
  w.field("element_bytes", c.element_bytes);
  w.field("adds", c.adds);
}
template <class W>
void walk(W& w, work::Collective& c) {
  w.item("collective", c.what);
  w.item("communicator", c.communicator);
  w.item("buffer", c.buffer);
  w.field("root", c.root);
  w.field("source", c.source, -1);
  w.field("target", c.target, -1);
}
template <class W>
void walk(W& w, work::Transfer& t) {
  w.item("communicator", t.communicator);
  w.item("buffer", t.buffer);
  w.field("from", t.from);
}
template <class W>
void walk(W& w, work::Delay& d) {
  w.item("ps", d.time);
}
template <class W>
void walk(W& /*w*/, work::Marker& /*m*/) {}
template <class W>
void walk(W& w, work::Timed& t) {
  w.item("ps", t.time);
  w.field("sms", t.sms);
  w.field("workgroups", t.workgroups);
  w.field("bytes", t.bytes);
  w.field("flops", t.flops);
}
template <class W>
void walk(W& w, work::Gather::Part& p) {
  w.item("when", p.when);
  w.item("bytes", p.bytes);
  w.item("gradient", p.gradient);
}
template <class W>
void walk(W& w, work::Gather& g) {
  w.item("communicator", g.communicator);
  w.item("copies", g.copies);
  w.item("parts", g.parts);
  w.item("cycle_ps", g.cycle);
  w.item("most", g.most);
  w.field("after_all", g.after_all);
}
/// What every operation has, whatever it does.
template <class W>
void walk_common(W& w, work::Operation& o) {
  w.field("name", o.name);
  w.field("after", o.after);
  w.field("gradients", o.gradients);
  w.field("updates", o.updates);
  w.field("weights", o.weights);
  w.field("frees", o.frees);
  w.field("pass", o.pass);
}
template <class W>
void walk(W& w, work::Stream& s) {
  w.item("name", s.name);
  w.field("kind", s.kind);
  w.field("communicator", s.communicator, -1);
  w.item("ops", s.ops);
}
template <class W>
void walk(W& w, work::Script& s) {
  w.item("streams", s.streams);
  w.field("idle", s.idle);
}
template <class W>
void walk(W& w, study::TraceMeasured& m) {
  w.item("step_ps", m.step);
  w.item("communicating_ps", m.communicating);
  w.item("uncovered_ps", m.uncovered);
}

/// The kinds of operations, as files name them in "do".
inline constexpr std::array kOperationKinds = {"product", "convolution", "attention", "streaming",
                                               "copy",    "collective",  "transfer",  "delay",
                                               "marker",  "measured",    "gather"};

}  // namespace infold::formats

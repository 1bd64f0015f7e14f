// Small models made by hand.
#pragma once

#include <utility>

#include "train/graph.h"

namespace infold::train::help {

inline Node node(Layer layer) {
  return {std::move(layer), {}};
}
inline Conv conv(int filters, int size = 3, int stride = 1) {
  Conv c;
  c.filters = filters;
  c.size = size;
  c.stride = stride;
  return c;
}
inline Linear linear(int out, bool bias = true) {
  Linear l;
  l.out = out;
  l.bias = bias;
  return l;
}
inline Model image_model(Nodes layers) {
  Model m;
  m.input.channels = 3;
  m.input.height = m.input.width = 32;
  m.layers = std::move(layers);
  return m;
}
inline Model vector_model(int features, Nodes layers) {
  Model m;
  m.input.features = features;
  m.layers = std::move(layers);
  return m;
}
inline Graph graph(const Model& m) {
  return build_graph(m).value();
}

}  // namespace infold::train::help

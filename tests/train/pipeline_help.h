// A small transformer to be cut into stages.
#pragma once

#include "model_help.h"

namespace infold::train::help {

/// So many blocks of attention and a perceptron, 64 wide, between an embedding and a projection, which may be
/// tied.
inline Graph transformer(int blocks, bool tied = false, int tokens = 32) {
  Embedding words;
  words.rows = 100;
  words.width = 64;
  Attention attention;
  attention.heads = 4;
  attention.causal = true;
  Branches first;
  first.body = {node(LayerNorm{}), node(attention)};
  Branches second;
  second.body = {node(LayerNorm{}), node(linear(128)), node(Activation{}), node(linear(64))};
  Linear last = linear(100, false);
  last.tied = tied;
  Model m;
  m.input.tokens = tokens;
  m.layers = {node(words), Node{Repeat{blocks, {Node{first, {}}, Node{second, {}}}}, {}}, node(LayerNorm{}),
              node(last), node(Loss{})};
  return graph(m);
}

}  // namespace infold::train::help

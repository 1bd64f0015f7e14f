// Pieces that the models of config.json files share, as layers of ours.
#pragma once

#include <string_view>

#include "formats/model/config_keys.h"
#include "train/model.h"

namespace infold::formats {

/// Makes layers whose errors point at the keys that their numbers came from.
class LayerMaker {
 public:
  explicit LayerMaker(ConfigKeys& keys) : keys_(keys) {}

  /// Complains at `key` if one of the layer's numbers is outside its range.
  train::Node layer(train::Layer layer, std::string_view key) const;
  train::Node linear(int out, bool bias, std::string_view key) const {
    return layer(train::Linear{out, bias}, key);
  }
  train::Node activation(std::string_view key, std::string_view otherwise) const;

  train::Node residual(train::Nodes body, train::Nodes shortcut = {}) const;
  train::Node repeat(int times, std::string_view name, train::Nodes layers) const;

  /// The gated network of Llama: the activation of one projection times another, projected back.
  train::Nodes gated(int width, int inner, bool bias, std::string_view key) const;
  /// Two projections with an activation between them.
  train::Nodes plain(int width, int inner, bool bias, std::string_view inner_key,
                     std::string_view activation_key, std::string_view otherwise) const;

  /// Tokens of a sample: the context where it is usual to train with all of it, else 4096; `--seq` changes
  /// it.
  int sequence(std::string_view key, int context, Notes& notes) const;

 private:
  ConfigKeys& keys_;
};

}  // namespace infold::formats

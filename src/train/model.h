// A model as its file describes it, with blocks expanded and every number computed: a tree of layers, paths
// that join again, side paths, and repetition.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/params.h"
#include "sim/result.h"
#include "train/layers.h"

namespace infold::train {

inline constexpr int kMostLayers = 10'000;  ///< of a model, with repetition counted
inline constexpr int kMostRepeats = 1'000;
inline constexpr int kDeepestModel = 12;  ///< levels of structures inside one another

struct Node;
using Nodes = std::vector<Node>;

/// Two paths from the same input; their outputs are added (a residual) or multiplied (a gate).
struct Branches {
  enum class Join : std::uint8_t { kAdd, kMultiply };
  Join join = Join::kAdd;
  Nodes body;
  Nodes shortcut;  ///< empty: the input itself
};
/// A path with its own end (a second loss); the main path continues from where it left.
struct Side {
  Nodes layers;
};
struct Repeat {
  int times = 1;
  Nodes layers;
};
/// The use of a block: its layers under its name.
struct Group {
  std::string name;
  Nodes layers;
};

struct Node {
  std::variant<Layer, Branches, Side, Repeat, Group> what;
  sim::Place place = {};  ///< where it was written, for messages
};

struct Input {
  static constexpr std::string_view kAbout = "One sample.";
  int channels = 0;
  int height = 0;
  int width = 0;
  int features = 0;
  int tokens = 0;
  template <class V>
  void visit(V& v) {
    v.field("channels", channels, sim::between(0, kWidest), "channels of an image");
    v.field("height", height, sim::between(0, kLargestSide), "height of an image");
    v.field("width", width, sim::between(0, kLargestSide), "width of an image");
    v.field("features", features, sim::between(0, kWidest), "or: length of a vector");
    v.field("tokens", tokens, sim::between(0, kLargestSide),
            "or: usual length of a sequence (--seq changes it)");
  }
  bool is_image() const { return channels > 0 && height > 0 && width > 0; }
  bool has_image() const { return channels > 0 || height > 0 || width > 0; }
};

struct Model {
  std::string name;
  std::string summary;
  std::vector<std::string> sources;
  Input input;
  Nodes layers;
};

}  // namespace infold::train

// Every node gets the place of the key that its numbers came from, because checks of shapes come later.
#include "formats/model/model_blocks.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <variant>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"

namespace infold::formats {

namespace {

/// Finds a number of a layer that is outside its range.
struct OutOfRange {
  std::string_view name;
  int value = 0;
  sim::Range<int> range{};
  void field(std::string_view n, int& v, const sim::Range<int>& r, std::string_view /*meaning*/) {
    if (!name.empty() || r.holds(v)) return;
    name = n;
    value = v;
    range = r;
  }
  void field(std::string_view /*name*/, bool& /*value*/, std::string_view /*meaning*/) {}
};

using Kind = train::Activation::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 10> kActivations = {
    {{"silu", Kind::kSilu},
     {"swish", Kind::kSilu},
     {"gelu", Kind::kGelu},
     {"gelu_new", Kind::kGelu},
     {"gelu_fast", Kind::kGelu},
     {"gelu_pytorch_tanh", Kind::kGelu},
     {"quick_gelu", Kind::kGelu},
     {"relu", Kind::kRelu},
     {"tanh", Kind::kTanh},
     {"sigmoid", Kind::kSigmoid}}};

constexpr int kLongestWholeContext = 8192;
constexpr int kUsualSequence = 4096;

}  // namespace

train::Node LayerMaker::layer(train::Layer layer, std::string_view key) const {
  OutOfRange wrong;
  std::visit([&](auto& l) { l.visit(wrong); }, layer);
  if (!wrong.name.empty())
    keys_.complain(key,
                   fmt::format("makes a {} of {} {}, which is not between {} and {}", train::name_of(layer),
                               wrong.name, wrong.value, wrong.range.min, wrong.range.max));
  const config::Position at = keys_.place(key);
  return {layer, {keys_.file(), at.line, at.column}};
}

train::Node LayerMaker::activation(std::string_view key, std::string_view otherwise) const {
  std::string name = keys_.word(key);
  if (name.empty()) name = otherwise;
  std::vector<std::string_view> known;
  for (const auto& [word, kind] : kActivations) {
    if (word == name) return layer(train::Activation{kind}, key);
    known.push_back(word);
  }
  std::string hint = config::did_you_mean(name, known);
  if (hint.empty()) hint = fmt::format(" (known are {})", fmt::join(known, ", "));
  keys_.complain(key, fmt::format("unknown activation {}{}", config::quote(name), hint));
  return layer(train::Activation{}, key);
}

train::Node LayerMaker::residual(train::Nodes body, train::Nodes shortcut) const {
  train::Branches branches;
  branches.body = std::move(body);
  branches.shortcut = std::move(shortcut);
  const sim::Place place = branches.body.front().place;
  return {std::move(branches), place};
}

train::Node LayerMaker::repeat(int times, std::string_view name, train::Nodes layers) const {
  train::Repeat repeat;
  repeat.times = times;
  const sim::Place place = layers.front().place;
  repeat.layers.push_back({train::Group{std::string(name), std::move(layers)}, place});
  return {std::move(repeat), place};
}

train::Nodes LayerMaker::gated(int width, int inner, bool bias, std::string_view key) const {
  train::Branches gate;
  gate.join = train::Branches::Join::kMultiply;
  gate.body = {linear(inner, bias, key), activation("hidden_act", "silu")};
  gate.shortcut = {linear(inner, bias, key)};
  const sim::Place place = gate.shortcut.front().place;
  return {{std::move(gate), place}, linear(width, bias, "hidden_size")};
}

train::Nodes LayerMaker::plain(int width, int inner, bool bias, std::string_view inner_key,
                               std::string_view activation_key, std::string_view otherwise) const {
  return {linear(inner, bias, inner_key), activation(activation_key, otherwise),
          linear(width, bias, inner_key)};
}

int LayerMaker::sequence(std::string_view key, int context, Notes& notes) const {
  if (context <= kLongestWholeContext) return context;
  notes.assumed.push_back(fmt::format("sequences of {} tokens, of at most {} ({}); --seq changes it",
                                      kUsualSequence, context, key));
  return kUsualSequence;
}

}  // namespace infold::formats

// Every use of a block and every layer, with its repetitions, counts against one budget before anything is
// built, so that a file of a few lines cannot become a model of billions of layers.
#include "config/model_expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "train/graph.h"
#include "train/layers.h"

namespace infold::config {
namespace {

constexpr std::array<std::string_view, 4> kStructures = {"residual", "gate", "side", "repeat"};

/// Finds a number that has no default and was not given.
struct FirstMissing {
  std::string_view name;
  void field(std::string_view n, int& value, const sim::Range<int>& range, std::string_view /*meaning*/) {
    if (name.empty() && !range.holds(value)) name = n;
  }
  void field(std::string_view /*name*/, bool& /*value*/, std::string_view /*meaning*/) {}
};

}  // namespace

bool ModelExpander::fail(const Context& c, Position where, std::string why) {
  if (!fault_) fault_ = at(*c.file, where, std::move(why));
  return false;
}

const PlacedNode* ModelExpander::find_block(std::string_view name) const {
  const auto it = std::find_if(draft_.blocks.begin(), draft_.blocks.end(),
                               [&](const PlacedNode& b) { return b.node.key == name; });
  return it == draft_.blocks.end() ? nullptr : &*it;
}

ReadContext ModelExpander::reading(const Context& c) const {
  ReadContext r;
  r.file = *c.file;
  r.evaluate = [scope = c.scope](std::string_view text) { return evaluate(text, *scope); };
  return r;
}

bool ModelExpander::finish(const Context& c, const ReadContext& r) {
  const auto read = r.status();
  if (read) return true;
  const sim::Error& first = read.error();
  return fail(c, {first.place.line, first.place.column}, first.message);
}

/// A parameter may use the parameters before it.
bool ModelExpander::read_parameters() {
  for (const PlacedNode& p : draft_.parameters) {
    const Context c{&p.file, &parameters_};
    if (!is_identifier(p.node.key))
      return fail(c, p.node.key_at,
                  fmt::format("{} is not a name (letters, digits and _)", quote(p.node.key)));
    if (p.node.kind != YamlNode::Kind::kScalar) {
      return fail(c, p.node.kind == YamlNode::Kind::kNull ? p.node.key_at : p.node.at,
                  fmt::format("{}: expected a whole number, not {}", p.node.key, kind_text(p.node.kind)));
    }
    const auto value = evaluate(p.node.text, parameters_);
    if (!value) return fail(c, p.node.at, fmt::format("{}: {}", p.node.key, value.error().message));
    parameters_[p.node.key] = *value;
  }
  for (const PlacedNode& b : draft_.blocks) {
    const bool taken = train::find_layer(b.node.key) != nullptr ||
                       std::find(kStructures.begin(), kStructures.end(), b.node.key) != kStructures.end();
    const Context c{&b.file, &parameters_};
    if (taken)
      return fail(c, b.node.key_at,
                  fmt::format("{} is a layer; name the block otherwise", quote(b.node.key)));
  }
  return true;
}

bool ModelExpander::read_input(train::Model& model) {
  if (!draft_.input) {
    fault_ = at(file_, {1, 1}, "missing key 'input' (for example 'input: {tokens: 512}')");
    return false;
  }
  const Context c{&draft_.input->file, &parameters_};
  ReadContext r = reading(c);
  MapReader reader(draft_.input->node, "input", r);
  model.input.visit(reader);
  reader.finish();
  return finish(c, r);
}

bool ModelExpander::expand_list(const YamlNode& list, const Context& c, std::string_view what,
                                train::Nodes& out) {
  if (list.kind != YamlNode::Kind::kList || list.children.empty()) {
    return fail(c, list.kind == YamlNode::Kind::kNull ? list.key_at : list.at,
                fmt::format("{}: expected a list of layers, not {}", what,
                            list.kind == YamlNode::Kind::kList ? "an empty one" : kind_text(list.kind)));
  }
  if (c.depth > train::kDeepestModel)
    return fail(c, list.at, fmt::format("structures nested more than {} deep", train::kDeepestModel));
  for (const YamlNode& item : list.children) {
    train::Node node;
    if (!expand_item(item, c, node)) return false;
    out.push_back(std::move(node));
  }
  return true;
}

bool ModelExpander::expand_item(const YamlNode& item, const Context& c, train::Node& out) {
  const bool word = item.kind == YamlNode::Kind::kScalar;
  if (!word && (item.kind != YamlNode::Kind::kMap || item.children.size() != 1)) {
    return fail(c, item.at,
                item.kind == YamlNode::Kind::kMap
                    ? fmt::format("a layer is one 'name: {{...}}', this has {} names", item.children.size())
                    : fmt::format("expected a layer, not {}", kind_text(item.kind)));
  }
  const YamlNode* arguments = word ? nullptr : &item.children.front();
  const std::string& name = word ? item.text : arguments->key;
  const Position where = word ? item.at : arguments->key_at;
  if (arguments != nullptr && arguments->kind == YamlNode::Kind::kNull) arguments = nullptr;
  out.place = {*c.file, where.line, where.column};
  if (const train::LayerName* layer = train::find_layer(name))
    return expand_layer(*layer, arguments, where, c, out);
  if (name == "residual") return expand_branches(train::Branches::Join::kAdd, arguments, where, c, out);
  if (name == "gate") return expand_branches(train::Branches::Join::kMultiply, arguments, where, c, out);
  if (name == "repeat") return expand_repeat(arguments, where, c, out);
  if (name == "side") {
    train::Side side;
    if (arguments == nullptr) return fail(c, where, "side: expected a list of layers");
    Context inner = c;
    ++inner.depth;
    if (!expand_list(*arguments, inner, "side", side.layers)) return false;
    out.what = std::move(side);
    return true;
  }
  if (const PlacedNode* block = find_block(name)) return expand_block(*block, arguments, where, c, out);
  std::vector<std::string_view> known(kStructures.begin(), kStructures.end());
  for (const auto& l : train::layer_names()) known.push_back(l.name);
  for (const PlacedNode& b : draft_.blocks) known.push_back(b.node.key);
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) hint = " (see 'infold list layers')";
  return fail(c, where, fmt::format("unknown layer or block {}{}", quote(name), hint));
}

bool ModelExpander::expand_layer(const train::LayerName& named, const YamlNode* arguments, Position where,
                                 const Context& c, train::Node& out) {
  layers_ += c.times;
  if (layers_ > train::kMostLayers)
    return fail(c, where, fmt::format("the model has more than {} layers", train::kMostLayers));
  train::Layer layer = named.layer;
  ReadContext r = reading(c);
  const YamlNode none{YamlNode::Kind::kMap, where, {}, {}, where, {}};
  MapReader reader(arguments == nullptr ? none : *arguments, std::string(named.name), r);
  FirstMissing missing;
  std::visit(
      [&](auto& l) {
        l.visit(reader);
        l.visit(missing);
      },
      layer);
  reader.finish();
  if (!finish(c, r)) return false;
  if (!missing.name.empty()) return fail(c, where, fmt::format("{} needs '{}'", named.name, missing.name));
  out.what = layer;
  return true;
}

bool ModelExpander::expand_branches(train::Branches::Join join, const YamlNode* arguments, Position where,
                                    const Context& c, train::Node& out) {
  const std::string_view name = join == train::Branches::Join::kAdd ? "residual" : "gate";
  train::Branches branches;
  branches.join = join;
  Context inner = c;
  ++inner.depth;
  // If there is only a body, its list can be written directly.
  if (arguments != nullptr && arguments->kind == YamlNode::Kind::kList) {
    if (!expand_list(*arguments, inner, name, branches.body)) return false;
    out.what = std::move(branches);
    return true;
  }
  if (arguments == nullptr) return fail(c, where, fmt::format("{}: expected a list of layers", name));
  ReadContext r = reading(c);
  MapReader reader(*arguments, std::string(name), r);
  const YamlNode* body = reader.take("body");
  const YamlNode* shortcut = reader.take("shortcut");
  reader.finish();
  if (!finish(c, r)) return false;
  if (body == nullptr) return fail(c, where, fmt::format("{} needs 'body'", name));
  if (shortcut != nullptr && !expand_list(*shortcut, inner, "shortcut", branches.shortcut)) return false;
  if (!expand_list(*body, inner, "body", branches.body)) return false;
  out.what = std::move(branches);
  return true;
}

bool ModelExpander::expand_repeat(const YamlNode* arguments, Position where, const Context& c,
                                  train::Node& out) {
  if (arguments == nullptr) return fail(c, where, "repeat needs 'times' and 'layers'");
  train::Repeat repeat;
  repeat.times = -1;
  ReadContext r = reading(c);
  MapReader reader(*arguments, "repeat", r);
  reader.field("times", repeat.times, sim::between(0, train::kMostRepeats), "how often");
  const YamlNode* layers = reader.take("layers");
  reader.finish();
  if (!finish(c, r)) return false;
  if (repeat.times < 0 || layers == nullptr) return fail(c, where, "repeat needs 'times' and 'layers'");
  Context inner = c;
  ++inner.depth;
  inner.times *= repeat.times;
  if (!expand_list(*layers, inner, "layers", repeat.layers)) return false;
  out.what = std::move(repeat);
  return true;
}

bool ModelExpander::read_arguments(const YamlNode& takes, const PlacedNode& block, const YamlNode* arguments,
                                   Position where, const Context& c, Scope& scope) {
  const Context own{&block.file, c.scope};
  if (takes.kind != YamlNode::Kind::kList)
    return fail(own, takes.at, fmt::format("takes: expected a list of names, not {}", kind_text(takes.kind)));
  ReadContext r = reading(c);
  const YamlNode none{YamlNode::Kind::kMap, where, {}, {}, where, {}};
  MapReader reader(arguments == nullptr ? none : *arguments, block.node.key, r);
  std::string_view missing;
  for (const YamlNode& name : takes.children) {
    if (!is_identifier(name.text))
      return fail(own, name.at,
                  fmt::format("takes: {} is not a name (letters, digits and _)", quote(name.text)));
    const YamlNode* value = reader.scalar(name.text);
    if (value == nullptr) {
      if (missing.empty()) missing = name.text;
      continue;
    }
    const auto number = evaluate(value->text, *c.scope);
    if (number) {
      scope[name.text] = *number;
    } else {
      r.complain(value->at, fmt::format("{}: {}", name.text, number.error().message));
    }
  }
  reader.finish();
  if (!finish(c, r)) return false;
  return missing.empty() || fail(c, where, fmt::format("{} needs '{}'", block.node.key, missing));
}

bool ModelExpander::expand_block(const PlacedNode& block, const YamlNode* arguments, Position where,
                                 const Context& c, train::Node& out) {
  const std::string& name = block.node.key;
  const auto open = std::find(blocks_open_.begin(), blocks_open_.end(), name);
  if (open != blocks_open_.end()) {
    const std::vector<std::string> circle(open, blocks_open_.end());
    return fail(c, where,
                fmt::format("blocks use one another in a circle: {} -> {}", fmt::join(circle, " -> "), name));
  }
  const Context own{&block.file, &parameters_};
  ReadContext r = reading(own);
  MapReader reader(block.node, name, r);
  const YamlNode* takes = reader.take("takes");
  const YamlNode* layers = reader.take("layers");
  reader.finish();
  if (!finish(own, r)) return false;
  if (layers == nullptr)
    return fail(own, block.node.key_at, fmt::format("block {} needs 'layers'", quote(name)));
  const YamlNode nothing{YamlNode::Kind::kList, block.node.at, {}, {}, {}, {}};
  Scope scope = parameters_;
  if (!read_arguments(takes == nullptr ? nothing : *takes, block, arguments, where, c, scope)) return false;
  train::Group group{name, {}};
  blocks_open_.push_back(name);
  if (!expand_list(*layers, {&block.file, &scope, c.depth + 1, c.times}, "layers", group.layers))
    return false;
  blocks_open_.pop_back();
  out.what = std::move(group);
  return true;
}

sim::Result<train::Model> ModelExpander::run() {
  train::Model model{draft_.name, draft_.summary, draft_.sources, {}, {}};
  if (!read_parameters() || !read_input(model)) return sim::fail(*fault_);
  if (!draft_.layers) return sim::fail(at(file_, {1, 1}, "missing key 'layers'"));
  if (!expand_list(draft_.layers->node, {&draft_.layers->file, &parameters_}, "layers", model.layers))
    return sim::fail(*fault_);
  const auto graph = train::build_graph(model);
  if (graph) return model;
  if (!graph.error().place.file.empty()) return sim::fail_as(graph);
  const PlacedNode& blame = graph.error().parameter == "input" ? *draft_.input : *draft_.layers;
  return sim::fail(at(blame.file, blame.node.key_at, graph.error().message));
}

sim::Result<train::Model> expand_model(const ModelDraft& draft, const std::string& file) {
  return ModelExpander(draft, file).run();
}

}  // namespace infold::config

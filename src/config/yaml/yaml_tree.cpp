// The tree is built from the events of yaml-cpp instead of its nodes: each event is checked before anything
// is kept, so depth, size and aliases are bounded while the text is read, not after.
#include "config/yaml/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "config/yaml/text.h"
#include "config/yaml/yaml_text.h"

namespace infold::config {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kLongestScalar = 4096;
constexpr std::size_t kLongestReason = 200;

/// Ends the parse from inside an event; caught in parse_yaml and nowhere else.
struct Refused {
  Position at;
  std::string why;
};

Position position(const YAML::Mark& mark) {
  return mark.is_null() ? Position{1, 1} : Position{mark.line + 1, mark.column + 1};
}

class TreeBuilder : public YAML::EventHandler {
 public:
  /// `text` is what the parser reads, without a byte order mark.
  TreeBuilder(std::string_view text, const YamlLimits& limits) : text_(text), limits_(limits) {}

  std::optional<YamlNode> take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refused{position(mark), "a second document; a file holds one"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    add(make(YamlNode::Kind::kNull, mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Refused{position(mark), "aliases (*name) are not supported; write the value out or use 'base'"};
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    throw Refused{
        position(mark),
        fmt::format("anchors (&{}) are not supported; write the value out or use 'base'", shown(name, 40))};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    refuse_tag(mark, tag);
    if (value.size() > kLongestScalar) {
      throw Refused{position(mark), fmt::format("a value of {} characters; the longest allowed is {}",
                                                value.size(), kLongestScalar)};
    }
    const bool plain = tag == "?";
    if (!plain && mark.pos >= 0 && !is_closed_quote(text_, static_cast<std::size_t>(mark.pos))) {
      throw Refused{position(mark), "a quote that is never closed"};
    }
    YamlNode node = make(YamlNode::Kind::kScalar, mark);
    node.text = value;
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kList, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kMap, mark, tag);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map whose end has not been seen yet.
  struct Open {
    YamlNode node;
    bool has_key = false;
    std::string key;
    Position key_at;
  };

  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    // "?" and "!" are what yaml-cpp reports for plain and quoted values without a tag.
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Refused{position(mark), "tags (!name) are not supported"};
  }

  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) {
    if (++nodes_ > limits_.nodes)
      throw Refused{position(mark), fmt::format("more than {} values", limits_.nodes)};
    YamlNode node;
    node.kind = kind;
    node.at = position(mark);
    return node;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    refuse_tag(mark, tag);
    if (open_.size() >= kDeepest) {
      throw Refused{position(mark), fmt::format("nested more than {} levels deep", kDeepest)};
    }
    if (!open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().has_key) {
      throw Refused{position(mark), "a key must be a word"};
    }
    open_.push_back({make(kind, mark), false, {}, {}});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kMap && !parent.has_key) {
      take_key(parent, node);
      return;
    }
    if (parent.node.children.size() >= limits_.children) {
      throw Refused{node.at, fmt::format("more than {} entries in one {}", limits_.children,
                                         parent.node.kind == YamlNode::Kind::kMap ? "map" : "list")};
    }
    if (parent.has_key) {
      node.key = std::move(parent.key);
      node.key_at = parent.key_at;
      parent.has_key = false;
    }
    parent.node.children.push_back(std::move(node));
  }

  static void take_key(Open& parent, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) throw Refused{node.at, "a key must be a word"};
    // Keys can be names that a file defines (blocks, axes), and those appear in messages and reports.
    if (has_control_character(node.text))
      throw Refused{node.at, fmt::format("a control character in the key {}", quote(node.text))};
    if (const YamlNode* first = parent.node.find(node.text)) {
      throw Refused{node.at,
                    fmt::format("duplicate key {} (first on line {})", quote(node.text), first->key_at.line)};
    }
    parent.has_key = true;
    parent.key = node.text;
    parent.key_at = node.at;
  }

  std::string_view text_;
  YamlLimits limits_;
  int documents_ = 0;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;
  std::optional<YamlNode> root_;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view name) const {
  const auto it =
      std::find_if(children.begin(), children.end(), [&](const YamlNode& n) { return n.key == name; });
  return kind == Kind::kMap && it != children.end() ? &*it : nullptr;
}

std::string_view kind_text(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "text";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "?";
}

sim::Result<YamlNode> parse_yaml(std::string_view text, const std::string& file, const YamlLimits& limits) {
  for (const auto check : {find_text_fault, find_tab_indentation}) {
    if (const auto fault = check(text)) return sim::fail(at(file, fault->at, fault->why));
  }
  if (const auto fault = find_many_brackets(text, limits.brackets))
    return sim::fail(at(file, fault->at, fault->why));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    TreeBuilder builder(text, limits);
    while (parser.HandleNextDocument(builder)) {
    }
    std::optional<YamlNode> root = builder.take_root();
    if (!root || root->kind == YamlNode::Kind::kNull) return sim::fail(at(file, {1, 1}, "the file is empty"));
    return std::move(*root);
  } catch (const Refused& refused) {
    return sim::fail(at(file, refused.at, refused.why));
  } catch (const YAML::Exception& e) {
    return sim::fail(
        at(file, position(e.mark), fmt::format("not valid YAML: {}", shown(e.msg, kLongestReason))));
  } catch (const std::exception& e) {
    return sim::fail(at(file, {1, 1}, fmt::format("not valid YAML: {}", shown(e.what(), kLongestReason))));
  }
}

}  // namespace infold::config

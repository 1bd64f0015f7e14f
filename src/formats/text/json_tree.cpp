// nlohmann's parser reports events without places, so it reads through an iterator that counts: when an event
// comes, what it is about has just been read, and its first character is found backwards from there.
#include "formats/text/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "config/yaml/text.h"
#include "formats/text/line_starts.h"

namespace infold::formats {

namespace {

using config::YamlNode;

constexpr std::size_t kLongestJsonReason = 160;

/// Reads characters, and tells how many were read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* at_;
  std::size_t* count_;
};

class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(std::string_view text, const std::size_t& read, const JsonLimits& limits)
      : text_(text), read_(read), limits_(limits), lines_(text) {}

  std::optional<YamlNode> take_root() { return std::move(root_); }
  config::Position refused_at() const { return refused_at_; }
  const std::string& why() const { return why_; }

  bool null() override { return add(node(YamlNode::Kind::kNull, read_ - 4)); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", read_ - (value ? 4 : 5)); }
  bool number_integer(std::int64_t value) override { return scalar(std::to_string(value), number_start()); }
  bool number_unsigned(std::uint64_t value) override { return scalar(std::to_string(value), number_start()); }
  bool number_float(double /*value*/, const std::string& written) override {
    return scalar(written, number_start());
  }
  bool string(std::string& value) override { return scalar(std::move(value), quote_start()); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return refuse(read_, "binary data"); }
  bool start_object(std::size_t /*elements*/) override { return open(YamlNode::Kind::kMap); }
  bool start_array(std::size_t /*elements*/) override { return open(YamlNode::Kind::kList); }
  bool key(std::string& name) override {
    const std::size_t start = quote_start();
    if (config::has_control_character(name)) return refuse(start, "a control character in a key");
    open_.back().key = std::move(name);
    open_.back().key_at = lines_.position(start);
    return true;
  }
  bool end_object() override {
    const auto& children = open_.back().node.children;
    std::vector<const YamlNode*> sorted;
    sorted.reserve(children.size());
    for (const YamlNode& child : children) sorted.push_back(&child);
    std::ranges::sort(sorted, {},
                      [](const YamlNode* n) { return std::pair(std::string_view(n->key), n->key_at); });
    const auto same =
        std::ranges::adjacent_find(sorted, {}, [](const YamlNode* n) { return std::string_view(n->key); });
    if (same != sorted.end()) {
      refused_at_ = (*(same + 1))->key_at;
      why_ = fmt::format("duplicate key {} (first on line {})", config::quote((*same)->key),
                         (*same)->key_at.line);
      return false;
    }
    return close();
  }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": the place is ours.
    std::string_view reason = error.what();
    if (const std::size_t column = reason.find("column "); column != std::string_view::npos) {
      const std::size_t colon = reason.find(": ", column);
      if (colon != std::string_view::npos) reason.remove_prefix(colon + 2);
    }
    return refuse(read_ == 0 ? 0 : read_ - 1,
                  fmt::format("not valid JSON: {}", config::shown(reason, kLongestJsonReason)));
  }

 private:
  /// A list or map whose end has not been seen yet.
  struct Open {
    YamlNode node;
    std::string key;
    config::Position key_at;
  };

  bool refuse(std::size_t offset, std::string why) {
    refused_at_ = lines_.position(std::min(offset, text_.size()));
    why_ = std::move(why);
    return false;
  }
  YamlNode node(YamlNode::Kind kind, std::size_t offset) {
    YamlNode made;
    made.kind = kind;
    made.at = lines_.position(offset);
    return made;
  }
  bool scalar(std::string text, std::size_t offset) {
    YamlNode made = node(YamlNode::Kind::kScalar, offset);
    made.text = std::move(text);
    return add(std::move(made));
  }
  bool open(YamlNode::Kind kind) {
    if (open_.size() >= limits_.depth)
      return refuse(read_ - 1, fmt::format("nested more than {} levels deep", limits_.depth));
    open_.push_back({node(kind, read_ - 1), {}, {}});
    return true;
  }
  bool close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(YamlNode done) {
    if (++values_ > limits_.values) {
      refused_at_ = done.at;
      why_ = fmt::format("more than {} values", limits_.values);
      return false;
    }
    if (open_.empty()) {
      root_ = std::move(done);
      return true;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kMap) {
      done.key = std::move(parent.key);
      done.key_at = parent.key_at;
    }
    parent.node.children.push_back(std::move(done));
    return true;
  }

  /// The quote that opens the string whose closing quote was just read.
  std::size_t quote_start() const {
    std::size_t i = read_ < 2 ? 0 : read_ - 2;
    for (; i > 0; --i) {
      if (text_[i] != '"') continue;
      std::size_t slashes = 0;
      while (slashes < i && text_[i - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return i;
  }
  /// The parser has read one character behind a number, unless the text ends there.
  std::size_t number_start() const {
    constexpr std::string_view kNumber = "0123456789+-.eE";
    std::size_t i = read_;
    if (i > 0 && kNumber.find(text_[i - 1]) == std::string_view::npos) --i;
    while (i > 0 && kNumber.find(text_[i - 1]) != std::string_view::npos) --i;
    return i;
  }

  std::string_view text_;
  const std::size_t& read_;
  JsonLimits limits_;
  LineStarts lines_;
  std::size_t values_ = 0;
  std::vector<Open> open_;
  std::optional<YamlNode> root_;
  config::Position refused_at_;
  std::string why_;
};

}  // namespace

sim::Result<YamlNode> parse_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t read = 0;
  JsonBuilder builder(text, read, limits);
  const CountingIterator begin(text.data(), &read);
  const CountingIterator end(text.data() + text.size(), &read);
  if (!nlohmann::json::sax_parse(begin, end, &builder))
    return sim::fail(config::at(file, builder.refused_at(), builder.why()));
  return std::move(*builder.take_root());
}

}  // namespace infold::formats

// The parser's events build one value at a time.
#include "formats/trace/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "config/yaml/position.h"
#include "config/yaml/text.h"

namespace infold::formats {

namespace {

using Value = nlohmann::json;

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostValuesOfItem = 200'000;

/// The characters of a stream, and where they stand.
struct CharacterSource {
  ByteStream& stream;
  std::vector<char> block = std::vector<char>(std::size_t{256} << 10);
  std::size_t next = 0;
  std::size_t end = 0;
  int line = 1;
  int column = 1;

  bool fill() {
    if (next < end) return true;
    next = 0;
    end = stream.read(block.data(), block.size());
    return end > 0;
  }
  void advance() {
    if (block[next++] == '\n') {
      ++line;
      column = 0;
    }
    ++column;
  }
};

class StreamIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit StreamIterator(CharacterSource* source) : source_(source) {}
  reference operator*() const { return source_->block[source_->next]; }
  StreamIterator& operator++() {
    source_->advance();
    return *this;
  }
  StreamIterator operator++(int) {
    StreamIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const StreamIterator& a, const StreamIterator& b) { return a.over() == b.over(); }
  friend bool operator!=(const StreamIterator& a, const StreamIterator& b) { return !(a == b); }

 private:
  bool over() const { return source_ == nullptr || !source_->fill(); }
  CharacterSource* source_;
};

class StreamBuilder : public nlohmann::json_sax<Value> {
 public:
  StreamBuilder(const JsonStreamWatch& watch, const CharacterSource& source) : watch_(watch), source_(source) {}

  const std::string& why() const { return why_; }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override { return scalar(value); }
  bool number_unsigned(std::uint64_t value) override { return scalar(value); }
  bool number_float(double value, const std::string& /*text*/) override { return scalar(value); }
  bool string(std::string& value) override { return scalar(std::move(value)); }
  bool binary(Value::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*n*/) override { return open(Value::object()); }
  bool start_array(std::size_t /*n*/) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (building_.empty()) {
      if (depth_ == 1) top_key_ = std::move(name);
      return true;
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    std::string_view reason = error.what();
    if (const std::size_t column = reason.find("column "); column != std::string_view::npos) {
      const std::size_t colon = reason.find(": ", column);
      if (colon != std::string_view::npos) reason.remove_prefix(colon + 2);
    }
    return refuse(fmt::format("not valid JSON: {}", config::shown(reason, 160)));
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool is_top_list() const { return depth_ == 1 && outermost_is_list_; }
  /// Whether a value that begins here is wanted as a whole.
  bool wanted() const {
    if (is_top_list() || (depth_ == 2 && in_list_)) return true;
    return depth_ == 1 && std::ranges::find(watch_.also, top_key_) != watch_.also.end();
  }
  void done(const Value& value) {
    if (is_top_list() || in_list_) {
      watch_.item(value);
    } else {
      watch_.value(top_key_, value);
    }
  }
  bool open(Value container) {
    if (depth_ + building_.size() >= kDeepest)
      return refuse(fmt::format("nested more than {} levels deep", kDeepest));
    if (!building_.empty()) {
      building_.push_back(add(std::move(container)));
      return building_.back() != nullptr;
    }
    if (depth_ > 0 && wanted()) {
      root_ = std::move(container);
      values_ = 0;
      building_.push_back(&root_);
      return true;
    }
    if (depth_ == 0) outermost_is_list_ = container.is_array();
    if (depth_ == 1 && !outermost_is_list_) in_list_ = container.is_array() && top_key_ == watch_.list;
    ++depth_;
    return true;
  }
  bool close() {
    if (!building_.empty()) {
      building_.pop_back();
      if (building_.empty()) done(root_);
      return true;
    }
    --depth_;
    if (depth_ == 1) in_list_ = false;
    return true;
  }
  bool scalar(Value value) {
    if (!building_.empty()) return add(std::move(value)) != nullptr;
    if (depth_ > 0 && wanted()) done(value);
    return true;
  }
  Value* add(Value value) {
    if (++values_ > kMostValuesOfItem) {
      refuse(fmt::format("one value has more than {} parts", kMostValuesOfItem));
      return nullptr;
    }
    Value& parent = *building_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }

  const JsonStreamWatch& watch_;
  const CharacterSource& source_;
  std::string why_;
  std::size_t depth_ = 0;  // of what is not built
  bool outermost_is_list_ = false;
  bool in_list_ = false;
  std::string top_key_;
  std::string key_;
  Value root_;
  std::vector<Value*> building_;
  std::size_t values_ = 0;
};

}  // namespace

sim::Status stream_json(ByteStream& stream, const std::string& file, const JsonStreamWatch& watch) {
  CharacterSource source{.stream = stream};
  StreamBuilder builder(watch, source);
  const bool good = Value::sax_parse(StreamIterator(&source), StreamIterator(nullptr), &builder);
  if (!stream.fault().empty()) return sim::fail(config::at(file, {}, stream.fault()));
  if (!good) return sim::fail(config::at(file, {source.line, std::max(source.column - 1, 1)}, builder.why()));
  return {};
}

}  // namespace infold::formats

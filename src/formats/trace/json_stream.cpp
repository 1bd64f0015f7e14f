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

/// Writes 0 for numbers that JSON does not have (inf, nan), which some versions of the profiler write, and
/// Python.
class OddNumbers {
 public:
  /// Adds characters to `to`, but for a word that may go on.
  void filter(std::string_view from, std::vector<char>& to) {
    for (const char c : from) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!in_string_ && letter && word_.size() < kLongestWord) {
        word_ += c;
        continue;
      }
      end_word(to);
      to.push_back(c);
      if (c == '"' && !escaped_) in_string_ = !in_string_;
      escaped_ = in_string_ && c == '\\' && !escaped_;
    }
  }
  void end_word(std::vector<char>& to) {
    const bool odd =
        word_ == "inf" || word_ == "Infinity" || word_ == "nan" || word_ == "NaN" || word_ == "Inf";
    const std::string_view written = odd ? "0" : std::string_view(word_);
    to.insert(to.end(), written.begin(), written.end());
    word_.clear();
  }

 private:
  static constexpr std::size_t kLongestWord = 16;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string word_;
};

/// The characters of a stream, and where they stand.
class CharacterSource {
 public:
  explicit CharacterSource(ByteStream& stream) : stream_(stream), block_(kBlock) {}

  bool fill() {
    while (next_ == ready_.size() && !over_) {
      next_ = 0;
      ready_.clear();
      const std::size_t n = stream_.read(block_.data(), block_.size());
      odd_.filter({block_.data(), n}, ready_);
      over_ = n == 0;
      if (over_) odd_.end_word(ready_);
    }
    return next_ < ready_.size();
  }
  const char& now() const { return ready_[next_]; }
  void advance() {
    if (ready_[next_++] == '\n') {
      ++line_;
      column_ = 0;
    }
    ++column_;
  }
  config::Position position() const { return {line_, std::max(column_ - 1, 1)}; }

 private:
  static constexpr std::size_t kBlock = std::size_t{256} << 10;
  ByteStream& stream_;
  std::vector<char> block_;
  std::vector<char> ready_;
  OddNumbers odd_;
  std::size_t next_ = 0;
  bool over_ = false;
  int line_ = 1;
  int column_ = 1;
};

class StreamIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit StreamIterator(CharacterSource* source) : source_(source) {}
  reference operator*() const { return source_->now(); }
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
  explicit StreamBuilder(const JsonStreamWatch& watch) : watch_(watch) {}

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
  CharacterSource source(stream);
  StreamBuilder builder(watch);
  const bool good = Value::sax_parse(StreamIterator(&source), StreamIterator(nullptr), &builder);
  if (!stream.fault().empty()) return sim::fail(config::at(file, {}, stream.fault()));
  if (!good) return sim::fail(config::at(file, source.position(), builder.why()));
  return {};
}

}  // namespace infold::formats

// A recursive-descent parser that computes while it reads. Depth is bounded by the nesting of brackets.
#include "config/yaml/expression.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"

namespace infold::config {
namespace {

constexpr int kDeepest = 32;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, const Scope& scope) : text_(text), scope_(scope) {}

  sim::Result<std::int64_t> run() {
    const auto value = sum();
    skip();
    if (value && !fault_ && at_ != text_.size())
      fail(fmt::format("expected an operator in {}, not {}", quote(text_), quote(text_.substr(at_, 1))));
    if (fault_) return sim::fail(*fault_);
    return *value;
  }

 private:
  using Value = std::optional<std::int64_t>;

  Value fail(std::string why) {
    if (!fault_) fault_ = std::move(why);
    return std::nullopt;
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Operands are at most kLargestNumber each, so neither sums nor (wide) products overflow here.
  Value bounded(double approximately, std::int64_t exact) {
    if (approximately > static_cast<double>(kLargestNumber) ||
        approximately < -static_cast<double>(kLargestNumber))
      return fail(fmt::format("{} is too large", quote(text_)));
    return exact;
  }

  /// Operands joined by one of two operators of the same rank, from left to right.
  template <class Operand, class Combine>
  Value joined(char one, char other, Operand operand, Combine combine) {
    Value left = operand();
    while (left) {
      const bool is_one = take(one);
      if (!is_one && !take(other)) break;
      const Value right = operand();
      if (!right) return std::nullopt;
      left = combine(is_one, *left, *right);
    }
    return left;
  }

  Value sum() {
    return joined(
        '+', '-', [this] { return term(); },
        [this](bool plus, std::int64_t a, std::int64_t b) {
          const std::int64_t v = plus ? a + b : a - b;
          return bounded(static_cast<double>(v), v);
        });
  }

  Value term() {
    return joined(
        '*', '/', [this] { return factor(); },
        [this](bool times, std::int64_t a, std::int64_t b) {
          return times ? multiplied(a, b) : divided(a, b);
        });
  }

  Value multiplied(std::int64_t a, std::int64_t b) {
    const double about = static_cast<double>(a) * static_cast<double>(b);
    if (!bounded(about, 0)) return std::nullopt;
    return a * b;
  }

  Value divided(std::int64_t a, std::int64_t b) {
    if (b == 0) return fail(fmt::format("{} divides by zero", quote(text_)));
    if (a % b != 0) return fail(fmt::format("{} is not a whole number ({} / {})", quote(text_), a, b));
    return a / b;
  }

  Value factor() {
    if (++depth_ > kDeepest) return fail(fmt::format("{} is nested too deep", quote(text_)));
    Value v;
    skip();
    if (take('(')) {
      v = sum();
      if (v && !take(')')) v = fail(fmt::format("a bracket in {} is not closed", quote(text_)));
    } else if (take('-')) {
      v = factor();
      if (v) v = -*v;
    } else if (at_ < text_.size() && is_digit(text_[at_])) {
      v = number();
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      v = name();
    } else {
      v = fail(at_ == text_.size() ? fmt::format("expected a whole number, not {}", quote(text_))
                                   : fmt::format("expected a number or a name in {}, not {}", quote(text_),
                                                 quote(text_.substr(at_, 1))));
    }
    --depth_;
    return v;
  }

  Value number() {
    std::int64_t v = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      v = v * 10 + (text_[at_] - '0');
      if (v > kLargestNumber) return fail(fmt::format("{} is too large", quote(text_)));
    }
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.'))
      return fail(fmt::format("expected a whole number, not {}", quote(text_)));
    return v;
  }

  Value name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const auto found = scope_.find(word);
    if (found != scope_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& entry : scope_) known.push_back(entry.first);
    std::string hint = did_you_mean(word, known);
    if (hint.empty())
      hint = known.empty() ? " (no names are known here)"
                           : fmt::format(" (names here: {})", fmt::join(known, ", "));
    return fail(fmt::format("unknown name {}{}", quote(word), hint));
  }

  std::string_view text_;
  const Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace

sim::Result<std::int64_t> evaluate(std::string_view text, const Scope& scope) {
  return Parser(text, scope).run();
}

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

}  // namespace infold::config

// One small text file for each result; numbers are written as their bits.
#include "study/composed/profile_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace infold::study::composed {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "infold profile 1";
/// A larger file is not one of ours.
constexpr std::uintmax_t kLargest = ProfileStore::kMostBytesPerPart / 2;

/// What follows the head: counts, numbers, and a check of both.
std::vector<std::uint64_t> words_of(const Sampled& s) {
  std::vector<std::uint64_t> words = {s.kernels.size(), s.pace.size()};
  const auto add = [&](double v) { words.push_back(std::bit_cast<std::uint64_t>(v)); };
  for (const double v : {s.first, s.next, s.sent, s.events, s.packet_hops}) add(v);
  for (const double v : s.kernels) add(v);
  for (const double v : s.pace) add(v);
  return words;
}

std::uint64_t check_of(const std::vector<std::uint64_t>& words, std::size_t count) {
  ContentKey key;
  for (std::size_t i = 0; i < count; ++i) key.add(words[i]);
  std::uint64_t check = 0;
  const std::string text = key.text().substr(0, 16);
  std::from_chars(text.data(), text.data() + text.size(), check, 16);
  return check;
}

}  // namespace

std::string text_of(const std::string& key, const Sampled& sampled) {
  std::string text = fmt::format("{}\n{}\n", kHead, key);
  const std::vector<std::uint64_t> words = words_of(sampled);
  for (const std::uint64_t w : words) text += fmt::format("{:x}\n", w);
  return text + fmt::format("{:x}\n", check_of(words, words.size()));
}

std::optional<Sampled> read_profile(const std::string& key, const std::string& text) {
  const std::string head = fmt::format("{}\n{}\n", kHead, key);
  if (!text.starts_with(head) || !text.ends_with('\n')) return std::nullopt;
  std::vector<std::uint64_t> words;
  const char* at = text.data() + head.size();
  const char* const end = text.data() + text.size();
  while (at < end) {
    std::uint64_t word = 0;
    const auto [next, error] = std::from_chars(at, end, word, 16);
    if (error != std::errc{} || next == end || *next != '\n') return std::nullopt;
    words.push_back(word);
    at = next + 1;
  }
  constexpr std::size_t kFixed = 7;
  if (words.size() < kFixed + 1 || words[0] > words.size() || words[1] > words.size() ||
      words.size() != kFixed + words[0] + words[1] + 1 || words.back() != check_of(words, words.size() - 1))
    return std::nullopt;
  const auto number = [&](std::size_t i) { return std::bit_cast<double>(words[i]); };
  Sampled s{.first = number(2),
            .next = number(3),
            .sent = number(4),
            .events = number(5),
            .packet_hops = number(6)};
  for (std::size_t i = 0; i < words[0]; ++i) s.kernels.push_back(number(kFixed + i));
  for (std::size_t i = 0; i < words[1]; ++i) s.pace.push_back(number(kFixed + words[0] + i));
  return s;
}

fs::path ProfileStore::file_of(const std::string& key) const {
  return folder_ / key.substr(0, 2) / key;
}

std::optional<Sampled> ProfileStore::find(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  if (folder_.empty()) return std::nullopt;
  std::error_code error;
  const fs::path file = file_of(key);
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (error || bytes > kLargest) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::optional<Sampled> sampled = read_profile(key, text);
  if (!sampled) return std::nullopt;
  const std::lock_guard lock(mutex_);
  known_.emplace(key, *sampled);
  return sampled;
}

void ProfileStore::keep(const std::string& key, const Sampled& sampled) {
  {
    const std::lock_guard lock(mutex_);
    known_.emplace(key, sampled);
  }
  const std::string text = text_of(key, sampled);
  if (folder_.empty() || text.size() > kLargest) return;
  static std::atomic<unsigned> number = 0;
  const fs::path file = file_of(key);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return;
  const fs::path written = file.parent_path() / fmt::format(".{}.{}.{}", key, ::getpid(), number++);
  std::ofstream out(written, std::ios::binary);
  out << text;
  out.close();
  if (out) fs::rename(written, file, error);
  if (!out || error) fs::remove(written, error);
  prune(file.parent_path());
}

/// Removes the oldest files of a part until the others fit.
void ProfileStore::prune(const fs::path& part) const {
  struct Kept {
    fs::file_time_type written;
    fs::path file;
    std::uintmax_t bytes = 0;
    bool operator<(const Kept& o) const { return std::pair(written, file) < std::pair(o.written, o.file); }
  };
  std::vector<Kept> all;
  std::uintmax_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator at(part, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may have removed it
    const Kept kept{at->last_write_time(gone), at->path(), at->file_size(gone)};
    if (gone) continue;
    sum += kept.bytes;
    all.push_back(kept);
  }
  if (sum <= kMostBytesPerPart) return;
  std::ranges::sort(all, [](const Kept& a, const Kept& b) { return a < b; });
  for (const Kept& kept : all) {
    if (sum <= kMostBytesPerPart) return;
    std::error_code gone;
    fs::remove(kept.file, gone);
    sum -= kept.bytes;
  }
}

}  // namespace infold::study::composed

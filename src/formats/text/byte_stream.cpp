// Reads a block at a time with stdio, and unpacks it with zlib.
#include "formats/text/byte_stream.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/text/file_text.h"

namespace infold::formats {

namespace {

constexpr std::size_t kStreamBlock = std::size_t{256} << 10;
constexpr int kGzipStreamWindow = 15 + 16;  // the largest window, and a gzip header, as zlib.h describes

/// Where packed or plain bytes come from.
class BlockSource {
 public:
  explicit BlockSource(std::FILE* file) : file_(file, &std::fclose), block_(kStreamBlock) {}
  explicit BlockSource(std::string_view bytes) : left_(bytes) {}

  /// The next bytes; none at the end.
  std::string_view next() {
    if (file_ == nullptr) return std::exchange(left_, {});
    const std::size_t n = std::fread(block_.data(), 1, block_.size(), file_.get());
    failed_ = n < block_.size() && std::ferror(file_.get()) != 0;
    return {block_.data(), n};
  }
  bool failed() const { return failed_; }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  std::vector<char> block_;
  std::string_view left_;
  bool failed_ = false;
};

class FileStream final : public ByteStream {
 public:
  FileStream(BlockSource source, std::uint64_t largest) : source_(std::move(source)), largest_(largest) {
    ahead_ = source_.next();
    packed_ = is_gzip(ahead_);
    if (packed_) ready_ = inflateInit2(&zlib_, kGzipStreamWindow) == Z_OK;
    if (packed_ && !ready_) fault_ = "cannot unpack it: zlib is out of memory";
  }
  ~FileStream() override {
    if (ready_) inflateEnd(&zlib_);
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  std::size_t read(char* to, std::size_t n) override {
    std::size_t got = 0;
    while (got < n && fault_.empty() && !ended_)
      got += packed_ ? inflate_some(to + got, n - got) : copy(to + got, n - got);
    offset_ += got;
    if (offset_ > largest_) fault_ = fmt::format("cannot read it: it is larger than {} MiB", largest_ >> 20);
    return got;
  }

 private:
  bool fill() {
    if (!ahead_.empty()) return true;
    ahead_ = source_.next();
    if (source_.failed()) fault_ = "cannot read it to its end";
    return !ahead_.empty();
  }
  std::size_t copy(char* to, std::size_t n) {
    if (!fill()) {
      ended_ = true;
      return 0;
    }
    const std::size_t part = std::min(n, ahead_.size());
    std::memcpy(to, ahead_.data(), part);
    ahead_.remove_prefix(part);
    return part;
  }
  std::size_t inflate_some(char* to, std::size_t n) {
    const bool more = fill();
    if (!more && at_member_) {
      ended_ = true;
      return 0;
    }
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(ahead_.data()));  // zlib only reads it
    zlib_.avail_in = static_cast<uInt>(ahead_.size());
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(n);
    const int outcome = inflate(&zlib_, Z_NO_FLUSH);
    ahead_.remove_prefix(ahead_.size() - zlib_.avail_in);
    const std::size_t got = n - zlib_.avail_out;
    at_member_ = outcome == Z_STREAM_END;
    if (at_member_) {
      if (inflateReset(&zlib_) != Z_OK) fault_ = "cannot unpack it: zlib refuses to go on";
    } else if (outcome != Z_OK || (!more && got == 0)) {
      fault_ = "cannot unpack it: its gzip data are damaged or cut off";
    }
    return got;
  }

  BlockSource source_;
  std::uint64_t largest_;
  std::string_view ahead_;
  z_stream zlib_{};
  bool packed_ = false;
  bool ready_ = false;
  bool ended_ = false;
  bool at_member_ = false;
};

/// So many bytes of an archive.
class PartStream final : public ByteStream {
 public:
  PartStream(ByteStream& whole, std::uint64_t bytes) : whole_(whole), left_(bytes) {}
  std::size_t read(char* to, std::size_t n) override {
    const std::size_t got = whole_.read(to, static_cast<std::size_t>(std::min<std::uint64_t>(n, left_)));
    left_ -= got;
    offset_ += got;
    if (!whole_.fault().empty()) fault_ = whole_.fault();
    return got;
  }
  void skip() {
    std::array<char, 4096> piece;  // NOLINT(*-member-init): read() fills it
    while (left_ > 0 && fault_.empty() && read(piece.data(), piece.size()) > 0) {
    }
    if (left_ > 0 && fault_.empty()) fault_ = "the archive is cut off";
  }

 private:
  ByteStream& whole_;
  std::uint64_t left_;
};

/// A number of an archive's header, in octal.
std::optional<std::uint64_t> octal(std::string_view field) {
  std::uint64_t value = 0;
  bool any = false;
  for (const char c : field) {
    if (c == ' ' || c == '\0') {
      if (any) break;
      continue;
    }
    if (c < '0' || c > '7' || value > (kLargestStream >> 2)) return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

std::string_view until_nul(std::string_view field) {
  return field.substr(0, field.find('\0'));
}

}  // namespace

sim::Result<std::unique_ptr<ByteStream>> open_stream(const std::string& file, std::uint64_t largest) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error || !std::filesystem::exists(status))
    return sim::fail(config::at(file, {}, "there is no such file"));
  if (!std::filesystem::is_regular_file(status))
    return sim::fail(config::at(file, {}, "cannot read it: it is no regular file"));
  // A file that states no size is not read: it is empty, or it is a device that only looks like a file
  // (/proc/kmsg) and would block.
  if (std::filesystem::file_size(file, error) == 0 || error) return stream_of({}, largest);
  std::FILE* opened = std::fopen(file.c_str(), "rb");
  if (opened == nullptr) return sim::fail(config::at(file, {}, "cannot open it"));
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(BlockSource(opened), largest));
}

std::unique_ptr<ByteStream> stream_of(std::string_view bytes, std::uint64_t largest) {
  return std::make_unique<FileStream>(BlockSource(bytes), largest);
}

sim::Result<std::string> read_head(const std::string& file, std::size_t bytes) {
  auto stream = open_stream(file);
  if (!stream) return sim::fail_as(std::move(stream));
  std::string head(bytes, '\0');
  head.resize((*stream)->read(head.data(), bytes));
  if (head.empty() && !(*stream)->fault().empty()) return sim::fail(config::at(file, {}, (*stream)->fault()));
  return head;
}

sim::Status for_each_in_archive(
    ByteStream& archive, const std::function<sim::Status(const std::string& name, ByteStream&)>& each) {
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kMostMembers = 100'000;
  constexpr std::size_t kNameLength = 100;
  constexpr std::size_t kSizeAt = 124;
  constexpr std::size_t kSizeLength = 12;
  constexpr std::size_t kTypeAt = 156;
  std::array<char, kBlock> header;  // NOLINT(*-member-init): read() fills it
  std::string long_name;
  for (std::size_t members = 0; members < kMostMembers; ++members) {
    if (archive.read(header.data(), kBlock) < kBlock) {
      if (!archive.fault().empty()) return sim::fail(archive.fault());
      return {};
    }
    const std::string_view text(header.data(), kBlock);
    if (text.find_first_not_of('\0') == std::string_view::npos) return {};
    const auto size = octal(text.substr(kSizeAt, kSizeLength));
    if (!size)
      return sim::fail(fmt::format("byte {}: this is no header of an archive", archive.offset() - kBlock));
    PartStream part(archive, *size);
    const char type = text[kTypeAt];
    if (type == 'L' && *size < kBlock * 8) {  // the name of the next file, where it is long
      long_name.resize(static_cast<std::size_t>(*size));
      part.read(long_name.data(), long_name.size());
      long_name = until_nul(long_name);
    } else if (type == '0' || type == '\0') {
      const std::string name =
          long_name.empty() ? std::string(until_nul(text.substr(0, kNameLength))) : long_name;
      long_name.clear();
      if (auto done = each(config::shown(name), part); !done) return done;
    }
    part.skip();
    PartStream padding(archive, (kBlock - *size % kBlock) % kBlock);
    padding.skip();
    if (!part.fault().empty()) return sim::fail(part.fault());
    if (!padding.fault().empty()) return sim::fail(padding.fault());
  }
  return sim::fail(fmt::format("it holds more than {} files", kMostMembers));
}

}  // namespace infold::formats

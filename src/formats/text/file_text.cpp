// Unpacks piece by piece with zlib, and stops at the limit.
#include "formats/text/file_text.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <filesystem>

#include "config/yaml/position.h"
#include "config/yaml/source.h"

namespace infold::formats {

namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, and a gzip header, as zlib.h describes

/// Ends the stream wherever the function returns.
class Inflater {
 public:
  explicit Inflater(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(bytes.size());
    ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

std::string stem_without_endings(std::string_view file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path = path.stem();
  return path.stem().string();
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

sim::Result<std::string> unpack(std::string_view bytes, std::size_t largest) {
  Inflater inflater(bytes);
  if (!inflater.ready()) return sim::fail("cannot unpack it: zlib is out of memory");
  z_stream& stream = inflater.stream();
  std::string text;
  std::array<char, 65536> piece;  // NOLINT(*-member-init): inflate() fills it
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    if (outcome != Z_OK && outcome != Z_STREAM_END)
      return sim::fail("cannot unpack it: its gzip data are damaged or cut off");
    text.append(piece.data(), piece.size() - stream.avail_out);
    if (text.size() > largest)
      return sim::fail(fmt::format("cannot read it: it is larger than {} MiB when unpacked", largest >> 20));
    if (outcome != Z_STREAM_END) continue;
    if (stream.avail_in == 0) return text;
    if (inflateReset(&stream) != Z_OK) return sim::fail("cannot unpack it: zlib refuses to go on");
  }
}

sim::Result<FileText> read_file(const std::string& file, std::size_t largest) {
  auto source = config::read_source(file, largest);
  if (!source) return sim::fail(config::at(file, {}, source.error().message));
  FileText out{file, stem_without_endings(file),
               std::filesystem::path(file).parent_path().filename().string(), std::move(source->text)};
  if (!is_gzip(out.text)) return out;
  auto text = unpack(out.text, largest);
  if (!text) return sim::fail(config::at(file, {}, text.error().message));
  out.text = std::move(*text);
  return out;
}

}  // namespace infold::formats

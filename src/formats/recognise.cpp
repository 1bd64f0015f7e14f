// Looks for what only one format has. A wrong guess costs no more than a message of the wrong reader.
#include "formats/recognise.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/yaml/text.h"

namespace infold::formats {

namespace {

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

bool has_all(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::all_of(words, [&](std::string_view word) { return has(text, word); });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// Whether a line begins with these words.
bool has_line(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

/// The name of the first element behind declarations and comments.
std::string_view first_element(std::string_view text) {
  for (;;) {
    text = without_blanks(text);
    std::string_view end;
    if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<?") || text.starts_with("<!")) {
      end = ">";
    } else {
      break;
    }
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + end.size());
  }
  if (!text.starts_with('<')) return {};
  text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" \t\r\n/>"));
}

/// Whether a map begins with "kind": "workload".
bool is_workload_json(std::string_view text) {
  constexpr std::size_t kBeginning = 256;
  std::string compact(text.substr(0, kBeginning));
  std::erase_if(compact, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return has(compact, "\"kind\":\"workload\"");
}

Format recognise_json(std::string_view text) {
  if (is_workload_json(text)) return Format::kWorkload;
  if (has(text, "\"traceEvents\"")) return Format::kKineto;
  if (text.starts_with('[') && has_all(text, {"\"ph\"", "\"ts\""})) return Format::kKineto;
  if (has_all(text, {"\"gpus\"", "\"threadblocks\""})) return Format::kMscclpp;
  if (has(text, "\"lists\"") || has(text, "\"schema\"")) return Format::kOurs;
  if (has(text, "\"model_type\"") || has(text, "\"architectures\"")) return Format::kHuggingFace;
  return has(text, "\"kind\"") ? Format::kOurs : Format::kUnknown;
}

/// A trace begins with the length of its first message, which holds a version: as field 1, or among
/// attributes (field 2) of which one is called "schema".
bool is_chakra(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && at < 4 && (static_cast<unsigned char>(text[at]) & 0x80) != 0) ++at;
  text = text.substr(std::min(at + 1, text.size()), 64);
  if (text.size() < 8) return false;
  if (text[0] == '\x12') return has(text, "schema");
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(text[1]));
  if (text[0] != '\x0a' || length == 0 || length > 16 || text.size() < 2 + length) return false;
  return std::ranges::all_of(text.substr(2, length), [](char c) { return config::is_digit(c) || c == '.'; });
}

bool is_tar(std::string_view text) {
  constexpr std::size_t kMagicAt = 257;
  return text.size() > kMagicAt + 5 && text.substr(kMagicAt, 5) == "ustar";
}

}  // namespace

bool is_read(Format format) {
  return format == Format::kHuggingFace || format == Format::kNcclTopology || format == Format::kNcclTests ||
         format == Format::kMsccl || format == Format::kChakra || format == Format::kKineto ||
         format == Format::kWorkload || format == Format::kNvidiaTopo;
}

std::string_view meaning_of(Format format) {
  for (const auto& named : kFormatNames) {
    if (named.value == format) return named.meaning;
  }
  return "";
}

Format recognise(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (is_tar(text)) return Format::kTar;
  if (is_chakra(text)) return Format::kChakra;
  const std::string_view start = without_blanks(text);
  if (start.starts_with('<')) {
    const std::string_view element = first_element(start);
    return element == "system" ? Format::kNcclTopology
           : element == "algo" ? Format::kMsccl
                               : Format::kUnknown;
  }
  if (start.starts_with('{') || start.starts_with('[')) return recognise_json(start);
  if (has_line(text, "kind: workload")) return Format::kWorkload;
  if (has_line(text, "kind:")) return Format::kOurs;
  if (has(text, "busbw") && (has(text, "out-of-place") || has(text, "algbw"))) return Format::kNcclTests;
  if (has(text, "Legend:") && has(text, "GPU0")) return Format::kNvidiaTopo;
  if (has(text, "allreduce,") && has_all(text, {",ring,", ","})) return Format::kTunerCsv;
  if (has_all(text, {"instances:", "devices:", "components:"})) return Format::kInfraGraph;
  return Format::kUnknown;
}

}  // namespace infold::formats

// pugixml parses without recursion and does not expand entities that a document declares, so only depth and
// number of what it found are left to bound.
#include "formats/text/xml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>

#include "config/yaml/text.h"
#include "formats/text/line_starts.h"

namespace infold::formats {

namespace {

class XmlBuilder {
 public:
  XmlBuilder(std::string_view text, const std::string& file, const XmlLimits& limits)
      : file_(file), limits_(limits), lines_(text) {}

  sim::Status fill(const pugi::xml_node& from, XmlNode& into, std::size_t depth) {
    const std::ptrdiff_t name = from.offset_debug();
    into.at = lines_.position(name > 0 ? static_cast<std::size_t>(name) - 1 : 0);  // of its '<'
    into.name = from.name();
    if (depth > limits_.depth)
      return refuse(into, fmt::format("nested more than {} levels deep", limits_.depth));
    if (++elements_ > limits_.elements)
      return refuse(into, fmt::format("more than {} elements", limits_.elements));
    for (const pugi::xml_attribute& attribute : from.attributes()) {
      if (into.find(attribute.name()) != nullptr)
        return refuse(into, fmt::format("<{}> has {} twice", config::shown(into.name),
                                        config::shown(attribute.name())));
      into.attributes.emplace_back(attribute.name(), attribute.value());
      if (into.attributes.size() > kMostAttributes)
        return refuse(into, fmt::format("more than {} attributes", kMostAttributes));
    }
    for (const pugi::xml_node& child : from.children()) {
      if (child.type() != pugi::node_element) continue;
      if (auto filled = fill(child, into.children.emplace_back(), depth + 1); !filled) return filled;
    }
    return {};
  }
  config::Position position(std::size_t offset) const { return lines_.position(offset); }

 private:
  static constexpr std::size_t kMostAttributes = 64;

  sim::Status refuse(const XmlNode& node, std::string why) const {
    return sim::fail(config::at(file_, node.at, std::move(why)));
  }

  const std::string& file_;
  XmlLimits limits_;
  LineStarts lines_;
  std::size_t elements_ = 0;
};

}  // namespace

const std::string* XmlNode::find(std::string_view attribute) const {
  const auto it =
      std::ranges::find(attributes, attribute, [](const auto& a) { return std::string_view(a.first); });
  return it == attributes.end() ? nullptr : &it->second;
}

std::string_view XmlNode::text(std::string_view attribute) const {
  const std::string* value = find(attribute);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

sim::Result<XmlNode> parse_xml(std::string_view text, const std::string& file, const XmlLimits& limits) {
  if (const auto fault = config::find_text_fault(text))
    return sim::fail(config::at(file, fault->at, fault->why));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  XmlBuilder builder(text, file, limits);
  if (!parsed) {
    return sim::fail(config::at(
        file, builder.position(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, parsed.offset))),
        fmt::format("not valid XML: {}", parsed.description())));
  }
  XmlNode root;
  if (auto filled = builder.fill(document.document_element(), root, 0); !filled)
    return sim::fail_as(std::move(filled));
  for (auto other = document.document_element().next_sibling(); other; other = other.next_sibling()) {
    if (other.type() != pugi::node_element) continue;
    XmlNode second;
    if (auto filled = builder.fill(other, second, 0); !filled) return sim::fail_as(std::move(filled));
    return sim::fail(config::at(file, second.at, "a second outermost element; a document has one"));
  }
  return root;
}

}  // namespace infold::formats

// Text of JSON and XML as trees with places, packed files, and the bounds of all three.
#include "formats/text/file_text.h"
#include "formats/text/json_tree.h"
#include "formats/text/xml_tree.h"
#include "helpers.h"

namespace infold::formats {
namespace {

using config::Position;
using config::YamlNode;

TEST(JsonTree, KnowsThePlaceOfEveryKeyAndValue) {
  const auto root =
      parse_json("{\n  \"a\": 12,\n  \"b\\\"c\" : [true, null, -1.5e3, \"x\\ny\"],\n \"d\":{}}", "f");
  ASSERT_EQ(error_of(root), "");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->at, (Position{1, 1}));
  const YamlNode& a = root->children[0];
  EXPECT_EQ(a.key, "a");
  EXPECT_EQ(a.text, "12");
  EXPECT_EQ(a.key_at, (Position{2, 3}));
  EXPECT_EQ(a.at, (Position{2, 8}));
  const YamlNode& list = root->children[1];
  EXPECT_EQ(list.key, "b\"c");
  EXPECT_EQ(list.key_at, (Position{3, 3}));
  ASSERT_EQ(list.children.size(), 4U);
  EXPECT_EQ(list.children[0].at, (Position{3, 13}));
  EXPECT_EQ(list.children[1].kind, YamlNode::Kind::kNull);
  EXPECT_EQ(list.children[1].at, (Position{3, 19}));
  EXPECT_EQ(list.children[2].text, "-1.5e3");
  EXPECT_EQ(list.children[2].at, (Position{3, 25}));
  EXPECT_EQ(list.children[3].text, "x\ny");
  EXPECT_EQ(list.children[3].at, (Position{3, 33}));
  EXPECT_EQ(root->children[2].at, (Position{4, 6}));
}

TEST(JsonTree, RefusesWhatIsNotJsonWithItsPlace) {
  EXPECT_EQ(error_of(parse_json("{\n \"a\": }", "f")).substr(0, 24), "f:2:7: not valid JSON: s");
  EXPECT_EQ(error_of(parse_json("", "f")).substr(0, 22), "f:1:1: not valid JSON:");
  EXPECT_EQ(error_of(parse_json("{\"a\": 1,\n \"b\": 2, \"a\": 3}", "f")),
            "f:2:10: duplicate key 'a' (first on line 1)");
  EXPECT_EQ(error_of(parse_json("{\"a\\u0007\": 1}", "f")), "f:1:2: a control character in a key");
}

TEST(JsonTree, IsBounded) {
  EXPECT_EQ(error_of(parse_json("[[[[1]]]]", "f", {.depth = 3})), "f:1:4: nested more than 3 levels deep");
  EXPECT_EQ(error_of(parse_json("[1,2,3,4]", "f", {.values = 3})).substr(0, 6), "f:1:8:");
  EXPECT_EQ(error_of(parse_json(std::string(100'000, '['), "f")), "f:1:33: nested more than 32 levels deep");
}

TEST(XmlTree, KnowsThePlaceOfEveryElement) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?>\n<!-- c -->\n<a x=\"1\" y=\"&lt;\">\n  <b/> text\n  <b z='2'><c/></b></a>",
      "f");
  ASSERT_EQ(error_of(root), "");
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(root->at, (Position{3, 1}));
  EXPECT_EQ(root->text("y"), "<");
  EXPECT_EQ(root->find("z"), nullptr);
  ASSERT_EQ(root->children.size(), 2U);
  EXPECT_EQ(root->children[0].at, (Position{4, 3}));
  EXPECT_EQ(root->children[1].children[0].at, (Position{5, 12}));
}

TEST(XmlTree, RefusesWhatIsNotOneSmallDocument) {
  EXPECT_THAT(error_of(parse_xml("<a>\n<b></a>", "f")), testing::HasSubstr("f:2:"));
  EXPECT_EQ(error_of(parse_xml("no", "f")).substr(0, 2), "f:");
  EXPECT_EQ(error_of(parse_xml("<a/>\n<b/>", "f")), "f:2:1: a second outermost element; a document has one");
  EXPECT_EQ(error_of(parse_xml("<a x=\"1\" x=\"2\"/>", "f")), "f:1:1: <a> has x twice");
  EXPECT_EQ(error_of(parse_xml("<a><a><a/></a></a>", "f", {.depth = 1})),
            "f:1:7: nested more than 1 levels deep");
  EXPECT_EQ(error_of(parse_xml("<a><b/><b/></a>", "f", {.elements = 2})), "f:1:8: more than 2 elements");
}

TEST(XmlTree, DoesNotExpandEntitiesThatADocumentDeclares) {
  const auto root = parse_xml("<!DOCTYPE a [<!ENTITY e \"eeee\">]><a x=\"&e;\"/>", "f");
  ASSERT_EQ(error_of(root), "");
  EXPECT_EQ(root->text("x"), "&e;");
}

class TextOfAFile : public FolderTest {};

TEST_F(TextOfAFile, IsTheSamePackedOrNot) {
  const std::string text = "some text\nof two lines\n";
  const auto plain = read_file(write("a.txt", text));
  const auto gz = read_file(write("folder/b.xml.gz", packed(text) + packed("and more")));
  ASSERT_EQ(error_of(plain), "");
  ASSERT_EQ(error_of(gz), "");
  EXPECT_EQ(plain->text, text);
  EXPECT_EQ(plain->stem, "a");
  EXPECT_EQ(gz->text, text + "and more");
  EXPECT_EQ(gz->stem, "b");
  EXPECT_EQ(gz->folder, "folder");
}

TEST_F(TextOfAFile, IsBoundedPackedAndUnpacked) {
  const std::string zeros(3U << 20, '0');
  const std::string small = write("zeros.gz", packed(zeros));
  EXPECT_EQ(error_of(read_file(small, 1U << 20)),
            small + ": cannot read it: it is larger than 1 MiB when unpacked");
  EXPECT_EQ(error_of(read_file(small, 3U << 20)), "");
  const std::string cut = write("cut.gz", packed(zeros).substr(0, 100));
  EXPECT_EQ(error_of(read_file(cut)), cut + ": cannot unpack it: its gzip data are damaged or cut off");
  EXPECT_EQ(error_of(read_file((folder_ / "none").string())), (folder_ / "none").string() + ": no such file");
}

}  // namespace
}  // namespace infold::formats

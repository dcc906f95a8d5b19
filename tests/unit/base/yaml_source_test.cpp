#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "base/config/config_node.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

/// The message of reading `text`, or "read" when there is no mistake.
std::string mistakes_in(const std::string& text, const YamlLimits& limits = {}) {
  try {
    read_yaml_text(text, "f", limits);
    return "read";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string mistakes_of_file(const std::string& path, const YamlLimits& limits = {}) {
  try {
    read_yaml_file(path, limits);
    return "read";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "inferometer-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("kinds, texts, quotes and places are kept") {
  const ConfigNode root = read_yaml_text("a: 010\nb: '2'\nlist:\n  - x\n  - {k: yes}\nnothing:\n", "f");
  REQUIRE(root.kind == ConfigNode::Kind::map);
  REQUIRE(root.entries.size() == 4);
  CHECK(root.find("a")->scalar == "010");
  CHECK_FALSE(root.find("a")->quoted);
  CHECK(to_string(root.find("a")->where) == "f:1:4");
  CHECK(root.find("b")->quoted);
  const ConfigNode& list = *root.find("list");
  REQUIRE(list.kind == ConfigNode::Kind::sequence);
  REQUIRE(list.items.size() == 2);
  CHECK(to_string(list.items[0].where) == "f:4:5");
  CHECK(list.items[1].find("k")->scalar == "yes");
  CHECK(root.find("nothing")->kind == ConfigNode::Kind::null);
  CHECK(to_string(root.find("nothing")->where) == "f:6:1");
  CHECK(root.find("absent") == nullptr);
}

TEST_CASE("empty documents are null") {
  for (const std::string text : {"", "# only a comment\n", "---\n", "\n\n"}) {
    CHECK(read_yaml_text(text, "f").kind == ConfigNode::Kind::null);
  }
}

TEST_CASE("columns count characters, whatever the line ends and the byte-order mark") {
  const ConfigNode root = read_yaml_text("\xEF\xBB\xBFé: [é, b]\r\nc: d\r\n", "f");
  CHECK(to_string(root.find("é")->items[1].where) == "f:1:8");
  CHECK(root.find("c")->scalar == "d");
  CHECK(to_string(root.find("c")->where) == "f:2:4");
}

TEST_CASE("every duplicate key is reported with its path") {
  CHECK(mistakes_in("a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n") ==
        "f:2:11: duplicate key \"b.c\"; first given on line 2\n"
        "f:3:1: duplicate key \"a\"; first given on line 1\n"
        "f:4:1: duplicate key \"a\"; first given on line 1");
}

TEST_CASE("anchors, aliases and tags are refused") {
  CHECK(mistakes_in("a: &x 1\nb: *x\n") ==
        "f:1:4: anchors (&name) are not allowed; write the value out\n"
        "f:2:4: aliases (*name) are not allowed; write the value out");
  CHECK(mistakes_in("b: *nowhere\n") == "f:1:4: aliases (*name) are not allowed; write the value out");
  CHECK(mistakes_in("a: !!str 1\n") == "f:1:4: tags (!name) are not allowed; the type follows from the key");
  CHECK(mistakes_in("&m a: 1\n") == "f:1:1: anchors (&name) are not allowed; write the value out");
}

TEST_CASE("keys must be words") {
  CHECK(mistakes_in("? [a]\n: b\n") == "f:1:3: a key must be a word, not a list or map");
  CHECK(mistakes_in(": b\n") == "f:1:1: a key is empty; every key is a word");
}

TEST_CASE("one document a file") {
  CHECK(mistakes_in("---\na: 1\n---\nb: 2\n").substr(0, 5) == "f:3:1");
  CHECK(mistakes_in("---\na: 1\n---\nb: 2\n").find("a second YAML document starts here") !=
        std::string::npos);
}

TEST_CASE("syntax errors say what to do") {
  CHECK(mistakes_in("engine:\n\tpolicy: x\n").find("a tab in the indentation; indent with spaces") !=
        std::string::npos);
  CHECK(mistakes_in("engine:\n  a: x\n\tb: y\n") ==
        "f:3:1: not valid YAML: a tab in the indentation; indent with spaces");
  CHECK(mistakes_in("workload:\n  rate:12\n  requests: 5\n") ==
        "f:3:11: not valid YAML: write \"rate: …\" with a space after the colon of \"rate\"");
  CHECK(mistakes_in("a: \"x\n") == "f:1:4: not valid YAML: this quote is not closed");
  CHECK(mistakes_in("a: 'it''s\n") == "f:1:4: not valid YAML: this quote is not closed");
  CHECK(mistakes_in("a: 'it''s'\nb: \"\\\"\"\n") == "read");
  CHECK(mistakes_in("a: [1, 2\n") ==
        "f:2:1: not valid YAML: a \"[\" is not closed by \"]\", or a comma is missing before this");
  CHECK(mistakes_in("a: @x\n") ==
        "f:1:4: not valid YAML: \"@\" cannot begin a value; put the value in quotes");
  CHECK(mistakes_in("a: b: c\n") ==
        "f:1:5: not valid YAML: a colon that begins no value here; check the indentation, or quote a text "
        "that has "
        "\": \" in it");
}

TEST_CASE("bytes that are not text are refused where they stand") {
  CHECK(mistakes_in("a: 1\nb: é\xFF\n") == "f:2:5: byte 0xFF is not valid UTF-8; save the file as UTF-8");
  CHECK(mistakes_in("a: \xC0\xAF\n") ==
        "f:1:4: byte 0xC0 is not valid UTF-8; save the file as UTF-8");  // overlong
  CHECK(mistakes_in("a: \xED\xA0\x80\n") ==
        "f:1:4: byte 0xED is not valid UTF-8; save the file as UTF-8");            // surrogate
  CHECK(mistakes_in("a: \xF4\x90\x80\x80\n").substr(0, 15) == "f:1:4: byte 0xF");  // above U+10FFFF
  CHECK(mistakes_in("a: \xE2\x82").substr(0, 16) == "f:1:4: byte 0xE2");           // cut off
  CHECK(mistakes_in("a: \xF0\x9F\x98\x80\n") == "read");
  CHECK(mistakes_in(std::string("a: \0b\n", 6)) == "f:1:4: control character 0x00 is not allowed");
  CHECK(mistakes_in("a: b\rc: d\n") == "f:1:5: control character 0x0D is not allowed");
}

TEST_CASE("limits hold") {
  CHECK(mistakes_in(repeated("[", 32) + repeated("]", 32)) == "read");
  CHECK(mistakes_in(repeated("[", 33) + repeated("]", 33)) == "f:1:33: nested more than 32 levels deep");
  CHECK(mistakes_in(repeated("[", 100'000)).find("nested more than 32 levels deep") != std::string::npos);
  CHECK(mistakes_in(repeated("- ", 100'000)).find("nested more than 32 levels deep") != std::string::npos);
  CHECK(mistakes_in(repeated("? ", 100'000)).find("nested more than 32 levels deep") != std::string::npos);
  CHECK(mistakes_in(repeated("{a: ", 100'000)).find("nested more than 32 levels deep") != std::string::npos);
  YamlLimits few;
  few.nodes = 10;
  CHECK(mistakes_in("[" + repeated("1,", 9) + "]", few) == "read");
  CHECK(mistakes_in("[" + repeated("1,", 10) + "]", few) ==
        "f:1:20: more than 10 values; the file is too large");
  few.file_bytes = 5;
  CHECK(mistakes_in("a: 12", few) == "read");
  CHECK(mistakes_in("a: 123", few) == "f: larger than the limit of 5 bytes");
}

TEST_CASE("a flood of mistakes is cut") {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "a: 1\n";
  }
  const std::string mistakes = mistakes_in(text);
  CHECK(std::count(mistakes.begin(), mistakes.end(), '\n') == 100);
  CHECK(mistakes.find("too many mistakes; the rest of the file was not read") != std::string::npos);
}

TEST_CASE("files that cannot be read are named") {
  const TemporaryFolder folder;
  CHECK(mistakes_of_file(folder.file("absent")) == folder.file("absent") + ": no such file");
  CHECK(mistakes_of_file(folder.file("")) == folder.file("") + ": is a directory, not a file");
  CHECK(mistakes_of_file("/dev/null") == "/dev/null: is not a regular file (a pipe or a device)");
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(mistakes_of_file(folder.file("pipe")) ==
        folder.file("pipe") + ": is not a regular file (a pipe or a device)");
}

TEST_CASE("a huge file is refused without being read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("huge");
  std::ofstream(path) << "a: 1\n";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);  // sparse
  CHECK(mistakes_of_file(path) == path + ": larger than the limit of 4194304 bytes");
}

TEST_CASE("a file without permission is refused") {
  if (geteuid() == 0) {
    WARN("skipped: root may read every file");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder.file("secret");
  std::ofstream(path) << "a: 1\n";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  CHECK(mistakes_of_file(path) == path + ": cannot be opened: permission denied");
}

TEST_CASE("a file is read like the text in it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ok.yaml");
  const std::string long_value(200'000, 'x');
  std::ofstream(path) << "a: 1\nb: " << long_value << "\n";
  const ConfigNode root = read_yaml_file(path);
  CHECK(root.find("b")->scalar == long_value);
  CHECK(to_string(root.find("b")->where) == path + ":2:4");
}

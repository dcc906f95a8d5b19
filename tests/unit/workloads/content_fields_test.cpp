#include "workloads/content_fields.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

using Runs = std::vector<ContentRun>;

Runs hashes(std::string_view text, std::int64_t prompt, std::int64_t block = 16) {
  Runs content{{7, 7}};  // of the line before
  REQUIRE(read_hash_ids(text, prompt, block, content).empty());
  return content;
}

std::string hash_fault(std::string_view text, std::int64_t prompt, std::int64_t block = 16) {
  Runs content;
  return read_hash_ids(text, prompt, block, content);
}

std::string run_fault(std::string_view text, std::int64_t prompt) {
  Runs content;
  return read_content_runs(text, prompt, content);
}

}  // namespace

TEST_CASE("hash ids are runs of a block, the last of what is left", "[content]") {
  CHECK(hashes("[4, 0,9 ]", 33) == Runs{{5, 16}, {1, 16}, {10, 1}});
  CHECK(hashes("[4,0,9]", 48) == Runs{{5, 16}, {1, 16}, {10, 16}});
  CHECK(hashes("[4]", 1) == Runs{{5, 1}});
  CHECK(hashes("[ ]", 100).empty());
  CHECK(hashes("[18446744073709551614]", 512, 512) == Runs{{18446744073709551615u, 512}});
}

TEST_CASE("as many hash ids as blocks the prompt begins", "[content]") {
  CHECK(hash_fault("[1, 2]", 33) ==
        "to have 3 ids, one for each 16 tokens begun of the prompt's 33, found 2");
  CHECK(hash_fault("[1, 2, 3]", 32) ==
        "to have 2 ids, one for each 16 tokens begun of the prompt's 32, found 3");
  CHECK(hash_fault("[1, 2]", 32).empty());
}

TEST_CASE("what are no hash ids is said", "[content]") {
  for (const char* text : {"5", "[", "[1", "[1,", "[1,]", "[-1]", "[1.5]", "[1 2]", "\"a\"", "[[1]]",
                           "[18446744073709551615]", "[18446744073709551616]"}) {
    INFO(text);
    CHECK(hash_fault(text, 16).starts_with(
        "to be an array of whole numbers from 0 to 18446744073709551614, found "));
  }
}

TEST_CASE("runs of content add up to the prompt", "[content]") {
  Runs content{{7, 7}};
  CHECK(read_content_runs(" [ [3, 10],[3 ,1] ]", 11, content).empty());
  CHECK(content == Runs{{3, 10}, {3, 1}});
  CHECK(run_fault("[[3, 10]]", 11) == "to add up to the prompt's 11 tokens, found 10");
  CHECK(run_fault("[[3, 10], [4, 2]]", 11) == "to add up to the prompt's 11 tokens, found more");
  CHECK(run_fault("[[3, 9223372036854775807], [4, 9223372036854775807]]", 11) ==
        "to add up to the prompt's 11 tokens, found more");
  for (const char* text :
       {"[]", "[[1, 11]", "[[1]]", "[[0, 11]]", "[[1, 0]]", "[[1, -11]]", "[1, 11]", "5"}) {
    INFO(text);
    CHECK(
        run_fault(text, 11).starts_with("to be an array of pairs [number, tokens], both 1 or more, found "));
  }
}

TEST_CASE("content is written as blocks where it consists of them, and read back", "[content]") {
  std::string text;
  CHECK(append_hash_ids({{5, 16}, {1, 16}, {10, 3}}, 16, text));
  CHECK(text == "[4, 0, 9]");
  CHECK(hashes(text, 35) == Runs{{5, 16}, {1, 16}, {10, 3}});
  CHECK_FALSE(append_hash_ids({}, 16, text));
  CHECK_FALSE(append_hash_ids({{5, 15}, {1, 16}}, 16, text));
  CHECK_FALSE(append_hash_ids({{5, 16}, {1, 17}}, 16, text));
  CHECK(text == "[4, 0, 9]");
  text.clear();
  append_content_runs({{5, 15}, {1, 17}}, text);
  CHECK(text == "[[5, 15], [1, 17]]");
}

#include "base/suggest.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("the nearest word is found by edit distance") {
  const std::vector<std::string> words{"policy", "max_num_seqs", "max_num_batched_tokens", "seed"};
  CHECK(nearest_word("polcy", words) == "policy");   // one letter left out
  CHECK(nearest_word("poilcy", words) == "policy");  // neighbours swapped
  CHECK(nearest_word("max_num_seq", words) == "max_num_seqs");
  CHECK(nearest_word("SEED", words) == "seed");           // case is ignored
  CHECK(nearest_word("sed", words) == "seed");            // 3 letters: 1 edit allowed
  CHECK(nearest_word("sdd", {"seed"}).empty());           // 2 edits of 3 letters: too far
  CHECK(nearest_word("abcdef", {"abxxef"}) == "abxxef");  // 6 letters: 2 edits allowed
  CHECK(nearest_word("abcdef", {"axxxef"}).empty());      // 3 edits
  CHECK(nearest_word("anything", {}).empty());
}

TEST_CASE("equals are decided by case, then by order") {
  CHECK(nearest_word("TBps", {"Tb/s", "TB/s"}) == "TB/s");
  CHECK(nearest_word("ax", {"ay", "az"}) == "ay");
}

TEST_CASE("a very long word gets no suggestion") {
  CHECK(nearest_word(std::string(1000, 'a'), {"a"}).empty());
}

TEST_CASE("suggestions and alternatives as text") {
  CHECK(did_you_mean("polcy", {"policy"}) == "; did you mean \"policy\"?");
  CHECK(did_you_mean("zzz", {"policy"}).empty());
  CHECK(did_you_mean("H100", {"h100-pcie", "l40s", "h100-sxm"}) ==
        "; did you mean \"h100-pcie\" or \"h100-sxm\"?");
  CHECK(did_you_mean("abcd", {"abcdxx", "abce"}) == "; did you mean \"abce\"?");  // near goes first
  CHECK(did_you_mean("a100", {"a10g", "a100-40gb", "a100-80gb"}) ==
        "; did you mean \"a100-40gb\" or \"a100-80gb\"?");  // but not before a whole stem
  CHECK(did_you_mean("ab", {"abcdefg"}).empty());
  CHECK(did_you_mean("abc", {"abc-11", "abc-12", "abc-13", "abc-14", "abc-15"}).empty());
  CHECK(join_alternatives({}).empty());
  CHECK(join_alternatives({"a"}) == "a");
  CHECK(join_alternatives({"a", "b"}) == "a or b");
  CHECK(join_alternatives({"a", "b", "c"}) == "a, b or c");
}

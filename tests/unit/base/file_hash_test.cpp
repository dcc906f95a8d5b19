#include "base/file_hash.hpp"

#include <string>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer {
namespace {

// The examples of FIPS 180-2, appendix B: one block, two blocks, a million times "a".
constexpr const char* kOfAbc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfTwoBlocks =
    "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
constexpr const char* kOfAMillion = "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST_CASE("texts have the digests of the standard", "[file_hash]") {
  CHECK(hash_text("abc") == kOfAbc);
  CHECK(hash_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == kOfTwoBlocks);
  CHECK(hash_text(std::string(1'000'000, 'a')) == kOfAMillion);
}

TEST_CASE("a file has the digest of its bytes however many pieces they are read in", "[file_hash]") {
  const test::TemporaryDirectory folder;
  const FileHash small = hash_file(folder.write("small", "abc"));
  CHECK(small.hash == kOfAbc);
  CHECK(small.bytes == 3);
  const FileHash large = hash_file(folder.write("large", std::string(1'000'000, 'a')));
  CHECK(large.hash == kOfAMillion);
  CHECK(large.bytes == 1'000'000);
  CHECK_THROWS_AS(hash_file(folder.file("absent")), ConfigError);
}

}  // namespace
}  // namespace inferometer

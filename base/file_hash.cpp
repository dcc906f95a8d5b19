#include "base/file_hash.hpp"

#include <array>
#include <fstream>
#include <memory>

#include <openssl/evp.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

/// SHA-256 of what it is given, piece by piece.
class Digest {
 public:
  Digest() {
    INFEROMETER_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
                      "SHA-256 is always there");
  }

  void add(const char* bytes, std::size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }

  std::string text() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &length);
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text = "sha256:";
    for (unsigned int byte = 0; byte < length; ++byte) {
      text += kDigits[digest[byte] >> 4];
      text += kDigits[digest[byte] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

}  // namespace

FileHash hash_file(const std::string& path) {
  constexpr std::size_t kPieceBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ConfigError({path}, "cannot be opened for reading");
  }
  Digest digest;
  FileHash result;
  std::array<char, kPieceBytes> piece{};
  while (file) {
    file.read(piece.data(), piece.size());
    const std::streamsize count = file.gcount();
    result.bytes += count;
    digest.add(piece.data(), static_cast<std::size_t>(count));
  }
  if (file.bad()) {
    throw ConfigError({path}, "cannot be read");
  }
  result.hash = digest.text();
  return result;
}

std::string hash_text(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text();
}

}  // namespace inferometer

#include "base/file_hash.hpp"

#include <array>
#include <fstream>
#include <memory>

#include <openssl/evp.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {

FileHash hash_file(const std::string& path) {
  constexpr std::size_t kPieceBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ConfigError({path}, "cannot be opened for reading");
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  INFEROMETER_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1,
                    "SHA-256 is always there");
  FileHash result;
  std::array<char, kPieceBytes> piece{};
  while (file) {
    file.read(piece.data(), piece.size());
    const std::streamsize count = file.gcount();
    result.bytes += count;
    EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(count));
  }
  if (file.bad()) {
    throw ConfigError({path}, "cannot be read");
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &length);

  constexpr const char* kDigits = "0123456789abcdef";
  result.hash = "sha256:";
  for (unsigned int byte = 0; byte < length; ++byte) {
    result.hash += kDigits[digest[byte] >> 4];
    result.hash += kDigits[digest[byte] & 15];
  }
  return result;
}

}  // namespace inferometer

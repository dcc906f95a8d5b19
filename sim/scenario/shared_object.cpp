#include "sim/scenario/shared_object.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include <elf.h>
#include <link.h>

namespace inferometer {
namespace {

template <class Header>
std::optional<Header> header_at(std::ifstream& file, std::uint64_t offset) {
  Header header;
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  return file ? std::optional(header) : std::nullopt;
}

/// `offset + size`, or the greatest number where that is beyond 64 bits.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t size) {
  return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

/// Where the part of the file ends that its headers tell of, as far as these are there. Headers of another
/// size than this machine's are the loader's to refuse.
std::uint64_t told_end(std::ifstream& file, const ElfW(Ehdr) & whole) {
  const std::uint64_t segments = end_of(whole.e_phoff, std::uint64_t{whole.e_phnum} * whole.e_phentsize);
  std::uint64_t end =
      std::max(segments, end_of(whole.e_shoff, std::uint64_t{whole.e_shnum} * whole.e_shentsize));
  if (whole.e_phentsize != sizeof(ElfW(Phdr))) {
    return end;
  }
  for (std::uint64_t i = 0; i < whole.e_phnum; ++i) {
    const auto segment = header_at<ElfW(Phdr)>(file, whole.e_phoff + i * whole.e_phentsize);
    if (!segment) {
      break;
    }
    end = std::max(end, end_of(segment->p_offset, segment->p_filesz));
  }
  return end;
}

}  // namespace

std::string cut_off_fault(const std::string& path) {
  std::error_code unreadable;
  const std::uint64_t size = std::filesystem::file_size(path, unreadable);
  std::ifstream file(path, std::ios::binary);
  const auto header = header_at<ElfW(Ehdr)>(file, 0);
  constexpr unsigned char kNativeClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (unreadable || !header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != kNativeClass) {
    return "";
  }
  const std::uint64_t end = told_end(file, *header);
  return end <= size ? ""
                     : "is cut off: it has " + std::to_string(size) + " bytes, and its headers tell of " +
                           std::to_string(end);
}

}  // namespace inferometer

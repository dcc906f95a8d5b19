#include "sim/study/executor/message.hpp"

#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include <sys/socket.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

struct Header {
  std::uint64_t size;
  std::int64_t number;
  std::int64_t kind;
};
// No byte of it is padding, which would travel unset.
static_assert(std::has_unique_object_representations_v<Header>);

constexpr std::size_t kReadBytes = std::size_t{1} << 16;

/// False when the other end closed before.
bool read_all(int socket, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = recv(socket, to, size, MSG_WAITALL);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    if (got > 0) {
      to += got;
      size -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

}  // namespace

std::string bytes_of(const Message& message) {
  const Header header{message.text.size(), message.number, static_cast<std::int64_t>(message.kind)};
  std::string bytes(sizeof header + message.text.size(), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  message.text.copy(bytes.data() + sizeof header, message.text.size());
  return bytes;
}

std::optional<Message> MessageReader::next() {
  Header header;
  if (bytes_.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (bytes_.size() - sizeof header < header.size) {
    return std::nullopt;
  }
  Message message{static_cast<Message::Kind>(header.kind), header.number,
                  bytes_.substr(sizeof header, header.size)};
  bytes_.erase(0, sizeof header + header.size);
  return message;
}

Message message_of(std::string_view bytes) {
  MessageReader reader;
  reader.add(bytes);
  std::optional<Message> message = reader.next();
  INFEROMETER_CHECK(message, "a letter holds a whole message");
  return std::move(*message);
}

bool send_message(int socket, const Message& message) {
  const std::string bytes = bytes_of(message);
  for (std::string_view left = bytes; !left.empty();) {
    const std::optional<std::size_t> written = write_some(socket, left);
    if (!written) {
      return false;
    }
    left.remove_prefix(*written);
  }
  return true;
}

std::optional<Message> receive_message(int socket) {
  Header header;
  if (!read_all(socket, reinterpret_cast<char*>(&header), sizeof header)) {
    return std::nullopt;
  }
  Message message{static_cast<Message::Kind>(header.kind), header.number, std::string(header.size, '\0')};
  if (!read_all(socket, message.text.data(), message.text.size())) {
    return std::nullopt;
  }
  return message;
}

std::optional<std::string> read_some(int socket) {
  std::string bytes(kReadBytes, '\0');
  const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
  if (got > 0) {
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return std::string();
  }
  return std::nullopt;
}

std::optional<std::size_t> write_some(int socket, std::string_view bytes) {
  const ssize_t written = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (written >= 0) {
    return static_cast<std::size_t>(written);
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return 0;
  }
  return std::nullopt;
}

}  // namespace inferometer

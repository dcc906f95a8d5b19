#pragma once

// What processes of an executor tell each other, over sockets and over MPI. Both ends are the same program on
// machines of the same kind: numbers travel as they lie in memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inferometer {

struct Message {
  enum class Kind : char {
    question,
    answer,
    failure,  ///< instead of an answer; the text says why
    hello,    ///< a rank's first: its slots as number, its fingerprint as text
    slots,    ///< how many a rank has left
    end,      ///< the last one to a rank, and the last one from it
  };
  Kind kind = Kind::end;
  std::int64_t number = 0;  ///< the ticket of a question, an answer, a failure
  std::string text;
};

/// Its bytes: what kind, number and size of the text are, then the text.
std::string bytes_of(const Message& message);

/// Cuts a stream of bytes into messages.
class MessageReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  /// The next message that has come whole.
  std::optional<Message> next();

 private:
  std::string bytes_;
};

/// The message that one text of bytes_of() holds. Precondition: all of it is there.
Message message_of(std::string_view bytes);

/// Sends all of it over a socket that blocks. False when nobody is at the other end any more.
bool send_message(int socket, const Message& message);

/// Waits for a message on a socket that blocks, and takes nothing of what comes after it; nothing when the
/// other end closed before it was whole.
std::optional<Message> receive_message(int socket);

/// Reads once, at most some 64 KiB. Nothing when the other end is closed; an empty text when it has nothing
/// to say now.
std::optional<std::string> read_some(int socket);

/// Writes once; the bytes written, 0 when there is no room now, nothing when the other end is closed.
std::optional<std::size_t> write_some(int socket, std::string_view bytes);

}  // namespace inferometer

#include "sim/study/executor/message.hpp"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

void check_same(const std::optional<Message>& found, const Message& expected) {
  REQUIRE(found);
  CHECK(found->kind == expected.kind);
  CHECK(found->number == expected.number);
  CHECK(found->text == expected.text);
}

const Message kWithZeros{Message::Kind::answer, -7, std::string("a\0b\n", 4)};
const Message kEmpty{Message::Kind::end, 0, ""};

TEST_CASE("messages cut into single bytes come out whole and in order", "[message]") {
  MessageReader reader;
  std::vector<Message> found;
  for (const char byte : bytes_of(kWithZeros) + bytes_of(kEmpty) + bytes_of(kWithZeros)) {
    reader.add(std::string(1, byte));
    while (auto message = reader.next()) {
      found.push_back(std::move(*message));
    }
  }
  REQUIRE(found.size() == 3);
  check_same(found[0], kWithZeros);
  check_same(found[1], kEmpty);
  check_same(found[2], kWithZeros);
}

TEST_CASE("a socket gives one message at a time and none that was cut short", "[message]") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  // Longer than a socket holds: the other side must read meanwhile.
  const Message large{Message::Kind::question, 1, std::string(3'000'000, 'x')};
  std::thread writer([&] {
    send_message(ends[1], kWithZeros);
    send_message(ends[1], large);
    const std::string half = bytes_of(kWithZeros);
    send(ends[1], half.data(), half.size() - 1, 0);
    close(ends[1]);
  });
  check_same(receive_message(ends[0]), kWithZeros);
  check_same(receive_message(ends[0]), large);
  CHECK_FALSE(receive_message(ends[0]));
  writer.join();
  CHECK_FALSE(send_message(ends[0], kEmpty));
  close(ends[0]);
}

}  // namespace
}  // namespace inferometer

#include "sim/study/executor/own_process.hpp"

#include <optional>
#include <stdexcept>

#include "sim/study/executor/child_process.hpp"
#include "sim/study/executor/evaluate.hpp"
#include "sim/study/executor/message.hpp"

namespace inferometer {

std::string in_own_process(const std::function<std::string()>& work) {
  ChildProcess child([&](int socket) {
    send_message(socket, evaluated([&](const std::string&) { return work(); }, Message{}));
  });
  const std::optional<Message> reply = receive_message(child.socket());
  if (!reply) {
    throw std::runtime_error(child.end());
  }
  if (reply->kind == Message::Kind::failure) {
    throw std::runtime_error(reply->text);
  }
  return reply->text;
}

}  // namespace inferometer

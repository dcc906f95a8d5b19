#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "sim/study/executor/executor.hpp"
#include "tests/support/temporary_directory.hpp"

namespace inferometer::test {

/// The question "door" is answered by nobody before the test opens it; all others at once, by themselves.
class Door {
 public:
  [[nodiscard]] Evaluator evaluator() const {
    return [this](const std::string& question) {
      while (question == "door" && !std::filesystem::exists(path_)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return question;
    };
  }
  void open() const { static_cast<void>(directory_.write("open", "")); }

 private:
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("open");
};

}  // namespace inferometer::test

#include "calibration/measure/loop_controls.hpp"

#include <chrono>
#include <thread>

namespace inferometer {

LoopControls real_time_controls(const std::atomic<bool>& is_stopped) {
  using Seconds = std::chrono::duration<double>;
  return {[] { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); },
          [](double seconds) { std::this_thread::sleep_for(Seconds(seconds)); }, &is_stopped};
}

}  // namespace inferometer

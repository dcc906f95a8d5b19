#pragma once

// Text that is written track by track, though it comes in another order: steps of many replicas, requests,
// transfers. Keeps little of each track in memory and the rest in a file beside the one to be made. Who uses
// it: the trace, whose bytes must not depend on when a stepper tells of what happened.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

class TrackSpool {
 public:
  /// `target`: the file that the text is for; where there is much of it, parts lie beside it, in a file that
  /// has no name any more once it is open and so is gone whatever becomes of this program.
  TrackSpool(std::filesystem::path target, std::size_t tracks);

  /// O(1) but for the copying. Throws ConfigError when the parts cannot be written.
  void append(std::size_t track, std::string_view text);

  /// One track after the other, each in the order in which it was appended. Throws ConfigError when the parts
  /// cannot be read. Call once.
  void write_to(std::ostream& out);

 private:
  struct Part {
    std::int64_t offset = 0, bytes = 0;
  };
  struct Track {
    std::vector<Part> parts;
    std::string recent;
  };

  void move_to_file(Track& track);
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path target_;
  std::vector<Track> tracks_;
  std::fstream file_;  // opened when it is needed
  std::int64_t file_bytes_ = 0;
};

}  // namespace inferometer

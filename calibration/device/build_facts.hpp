#pragma once

// What was built, told by the build: build_facts.cmake writes the values. Who uses it: cuda_device.cpp.

namespace inferometer {

struct BuildFacts {
  const char* source_hash;   ///< "sha256:...", of the sources of the kernels and of what runs them
  const char* revision;      ///< "8f3be4c", "8f3be4c dirty"; "" outside of a git checkout
  const char* version;       ///< of the project
  const char* nvcc_version;  ///< "13.0.88"
};

extern const BuildFacts kBuildFacts;

}  // namespace inferometer

#pragma once

// Catch2 as every test includes it: version 2 on Debian 12, version 3 on Debian 13.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

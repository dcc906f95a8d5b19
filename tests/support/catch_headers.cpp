// What every test includes, precompiled once for all of them.

#include "tests/support/catch.hpp"

#pragma once

namespace inferometer {

/// Holds any product of two int64, and sums of such products.
__extension__ typedef __int128 Int128;

}  // namespace inferometer

#pragma once

// Elementary functions whose last bit is the same on every machine: only +, -, *, / of IEEE doubles, no
// library calls and no fused operations. The C library's differ between versions, which would break
// byte-identical output. Used by the random streams and the workload generators.

namespace inferometer {

/// Natural logarithm, within 1 ulp. x = 0: -infinity; x < 0 or NaN: NaN.
double portable_log(double x);

/// e^x, within 1 ulp where the result is a normal double; 0 below, infinity above.
double portable_exp(double x);

/// x^y for x >= 0 as exp(y log x): relative error up to (1 + 1.5 |y log x|) * 2.3e-16.
/// 0^y is 0 for y > 0, 1 for y = 0, infinity for y < 0.
double portable_pow(double x, double y);

/// Sine and cosine of x radians, absolute error below 2.3e-16. Precondition: |x| <= 1e6.
double portable_sin(double x);
double portable_cos(double x);

/// Exact to the last bit by IEEE 754 on every machine, named here so that callers need not wonder.
double portable_sqrt(double x);

}  // namespace inferometer

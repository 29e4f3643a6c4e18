/* export_reserved.c - reserved names of C and SymPy: columns with such a name are exported under
 * another one.
 *
 * C: keywords of C23 and C++, names of <math.h>, and common macros and functions. SymPy: keywords
 * and functions of Python 3, and the names that `from sympy import *` defines (SymPy 1.14), as read
 * by sympify(), except names of several words (solve_linear, BlockMatrix) or of more than ten
 * letters, which columns hardly have. */
#include "solve.h"

#include <string.h>

static const char in_c[] =
    " DOMAIN EOF FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN "
    "FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY MATH_ERREXCEPT "
    "MATH_ERRNO MAXFLOAT M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 "
    "M_PI_4 M_SQRT1_2 M_SQRT2 NAN NULL OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS abort abs acos "
    "acosh acospi alignas alignof and and_eq asin asinh asinpi asm assert atan atan2 atan2pi "
    "atanh atanpi auto bitand bitor bool break cabs cacos cacosh canonicalize carg case casin "
    "casinh catan catanh catch cbrt ccos ccosh ceil cexp char char16_t char32_t char8_t cimag "
    "class clock clog clog10 co_await co_return co_yield compl complex compoundn concept conj "
    "const const_cast consteval constexpr constinit continue copysign cos cosh cospi cpow cproj "
    "creal csin csinh csqrt ctan ctanh decltype default delete div do double double_t drem "
    "dynamic_cast else enum environ erf erfc errno exit exp exp10 exp10m1 exp2 exp2m1 explicit "
    "expm1 export extern fabs false fdim finite float float_t floor fma fmax fmaximum "
    "fmaximum_mag fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_num fminmag fmod for "
    "fortran fpclassify free frexp friend fromfp fromfpx gamma getpayload goto hypot i386 if "
    "ilogb imaginary index inline int iseqsig isfinite isgreater isgreaterequal isinf isless "
    "islessequal islessgreater isnan isnormal issignaling issubnormal isunordered iszero j0 j1 jn "
    "labs ldexp ldiv lgamma linux llabs lldiv llogb llrint llround log log10 log10p1 log1p log2 "
    "log2p1 logb logp1 long lrint lround main malloc modf mutable namespace nan nearbyint new "
    "nextafter nextdown nexttoward nextup noexcept noreturn not not_eq nullptr offsetof operator "
    "or or_eq pow pow10 pown powr printf private protected ptrdiff_t public rand register "
    "reinterpret_cast remainder remquo requires restrict return rint rootn round roundeven rsqrt "
    "scalb scalbln scalbn scanf setpayload setpayloadsig short signbit signed signgam significand "
    "sin sincos sinh sinpi size_t sizeof sqrt srand static static_assert static_cast stderr stdin "
    "stdout struct switch tan tanh tanpi template tgamma this thread_local throw time totalorder "
    "totalordermag true trunc try typedef typeid typename typeof typeof_unqual ufromfp ufromfpx "
    "union unix unsigned using virtual void volatile wchar_t while xor xor_eq y0 y1 yn ";
static const char in_sympy[] = /* reserved in SymPy but not in C */
    " Abs Add Adjoint And Array Atom Basic CC Catalan Chi Ci Circle Complement Complexes Contains "
    "Curve Derivative Dict Domain Dummy E E1 EX EXRAW Ei Eijk Ellipse Eq Equality Equivalent Expr "
    "FF FU False Float Function GF Ge Gt Heaviside ITE Id Identity Idx Implies Indexed Integer "
    "Integers Integral Interval Inverse LC LM LT Lambda Le Li Limit Line Lt Matrix Max Min Mod "
    "Monomial Mul N Nand Naturals Naturals0 Ne None Nor Not Number O Options Or Order Ordinal "
    "Parabola Permanent Piecewise Plane Point Poly Polygon Pow Predicate Product Q QQ Quaternion "
    "RR Range Rational Rationals Ray Reals Rel Rem S Segment Set Shi Si Sieve Subs Sum Symbol "
    "Trace Transpose Triangle True Tuple Unequality Union Wild Xor Ynm ZZ Znm abundance acot "
    "acoth acsc acsch adjoint airyai airybi aiter algebras all andre anext any apart appellf1 arg "
    "arity as ascii asec asech ask assuming async await banded bell bernoulli besseli besselj "
    "besselk besselsimp bessely beta betainc bin binomial blockcut breakpoint cacheit calculus "
    "callable cancel capture carmichael cartes casoratian catalan ccode ceiling centroid "
    "chebyshevt chebyshevu checksol chr cofactors collect combsimp comp compile compose composite "
    "concrete conjugate content cot coth csc csch cse cxxcode decompogen decompose def deg degree "
    "del delattr denom det diag diff digamma dir discrete divisors divmod doctest dotprint dsolve "
    "elif epath erf2 erf2inv erfcinv erfi erfinv euler eval evalf evaluate except exec expand "
    "expint exquo external eye factor factorial factorial2 factorint factorrat fcode ff fft "
    "fibonacci field filldedent finally flatten format fps frac fraction fresnelc fresnels from "
    "fu functions fwht gammasimp gcd gcdex gegenbauer genocchi geometry getattr gff global "
    "globals grevlex grlex groebner group gruntz hankel1 hankel2 harmonic hasattr hash hermite "
    "hessian hex hn1 hn2 horner hyper hypersimp id idiff ifft ifwht igcd igrevlex igrlex ilcm "
    "ilex im imageset import in input integrate intervals intt invert is isinstance isolate "
    "isprime issubclass iter jacobi jscode laguerre lambda lambdify latex lcm legendre len "
    "lerchphi lex li limit linsolve list2numpy ln locals logcombine loggamma lowergamma lucas "
    "marcumq mathieuc mathieus mathml max maximum meijerg min minimum minpoly mobius monic "
    "motzkin multigamma next nextprime nfloat nonlocal nroots nsimplify nsolve ntheory ntt numer "
    "oct ones oo open ord ord0 ordered parsing partition pass pdiv pdsolve per pexquo pi plot "
    "plotting polarify poly polygamma polylog polys posify postfixes powdenest powsimp pprint "
    "pquo prefixes prem pretty preview prevprime prime primenu primeomega primepi primerange "
    "primitive primorial print printing prod product pycode python quo rad radsimp raise "
    "randMatrix randprime ratsimp rcode rcollect re reduced refine release rem repr reshape "
    "residue resultant rf ring root rootof roots rotations rsolve sec sech sequence series "
    "setattr seterr sfield shape sieve sift sign signsimp simplify sinc solve solveset sorted sqf "
    "sqrtdenest srepr sring sstr sstrrepr stieltjes strategies sturm subsets sum summation "
    "symarray symbols symmetrize sympify take tensor test textplot threaded timed together "
    "totient trace trailing transpose tribonacci trigamma trigsimp unflatten unpolarify "
    "uppergamma use utilities var variations vars vectorize vfield viete vring with wronskian "
    "xfield xring xthreaded yield zeros zeta zoo ";

/* module names of NumPy, JAX and PyTorch in printed formulas */
static const char modules[] = " np jnp torch ";

static bool is_among(const char *name, size_t length, const char *names)
{
    char word[24];
    if (length == 0 || length + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)length, name);
    return strstr(names, word) != NULL;
}

bool sr_export_reserved(const char *name)
{
    const size_t length = strlen(name);
    return is_among(name, length, in_c) || is_among(name, length, in_sympy) ||
           is_among(name, length, modules) ||
           /* float and long double variants, such as sinf and sinl */
           (length > 2 && strchr("fl", name[length - 1]) && is_among(name, length - 1, in_c));
}

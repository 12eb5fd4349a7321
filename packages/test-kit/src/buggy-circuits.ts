/** Public classes of bugs, each written anew as a small circuit. They include circomlib's templates as "circomlib/circuits/...". */
import { division } from "./division-circuit.ts";

const HEAD = "pragma circom 2.0.0;";
const main = (body: string, include = "", parameters = "", values = ""): string => `${HEAD}
${include === "" ? "" : `include "circomlib/circuits/${include}.circom";`}
template Main(${parameters}) {${body}}
component main = Main(${values});`;

/** A comparison's result decides the output; the comparison is right only for numbers of 16 bits. */
const comparison = (checked: boolean) =>
  main(
    `
    signal input divisor;
    signal input dividend;
    signal output quotient;
    signal output remainder;
    quotient <-- dividend \\ divisor;
    remainder <-- dividend % divisor;
    dividend === quotient * divisor + remainder;
    component less = LessThan(16);
    less.in[0] <== remainder;
    less.in[1] <== divisor;
    less.out === 1;
    ${checked ? "component bits[3]; for (var i = 0; i < 3; i++) bits[i] = Num2Bits(16); bits[0].in <== remainder; bits[1].in <== divisor; bits[2].in <== quotient;" : ""}`,
    "comparators",
  );

/** The result of a comparison is not used. */
const ignored = (checked: boolean) =>
  main(
    `
    signal input dividend;
    signal output quotient;
    signal output remainder;
    quotient <-- dividend \\ 7;
    remainder <-- dividend % 7;
    dividend === quotient * 7 + remainder;
    component size[2];
    for (var i = 0; i < 2; i++) size[i] = Num2Bits(16);
    size[0].in <== quotient;
    size[1].in <== remainder;
    component less = LessThan(16);
    less.in[0] <== remainder;
    less.in[1] <== 7;
    ${checked ? "less.out === 1;" : ""}`,
    "comparators",
  );

const rangeBits = (checked: boolean) =>
  main(`
    signal input in;
    signal output out[8];
    var sum = 0;
    for (var i = 0; i < 8; i++) {
        out[i] <-- (in >> i) & 1;
        ${checked ? "out[i] * (out[i] - 1) === 0;" : ""}
        sum += out[i] * (1 << i);
    }
    sum === in;`);

/** A long division in digits of two bits, of which the remainder's may be negative: 3 is also 4 - 1. */
const digits = (checked: boolean) =>
  main(
    `
    signal input dividend[4];
    signal input divisor[2];
    signal output quotient[3];
    signal output remainder[2];
    var n = dividend[0] + 4 * dividend[1] + 16 * dividend[2] + 64 * dividend[3];
    var d = divisor[0] + 4 * divisor[1];
    component range[9];
    component carries[3];
    for (var i = 0; i < 3; i++) quotient[i] <-- d == 0 ? 0 : ((n \\ d) >> (2 * i)) & 3;
    for (var i = 0; i < 2; i++) remainder[i] <-- d == 0 ? 0 : ((n % d) >> (2 * i)) & 3;
    for (var i = 0; i < 7; i++) range[i] = Num2Bits(2);
    for (var i = 0; i < 4; i++) range[i].in <== dividend[i];
    for (var i = 0; i < 3; i++) range[4 + i].in <== quotient[i];
    ${checked ? "for (var i = 0; i < 2; i++) { range[7 + i] = Num2Bits(2); range[7 + i].in <== remainder[i]; }" : ""}
    signal product[3][2];
    for (var i = 0; i < 3; i++) for (var j = 0; j < 2; j++) product[i][j] <== quotient[i] * divisor[j];
    signal carry[3];
    var column[4] = [product[0][0] + remainder[0], product[0][1] + product[1][0] + remainder[1], product[1][1] + product[2][0], product[2][1]];
    for (var i = 0; i < 3; i++) {
        carry[i] <-- (column[i] + (i == 0 ? 0 : carry[i - 1])) \\ 4;
        carries[i] = Num2Bits(4);
        carries[i].in <== carry[i];
        dividend[i] + 4 * carry[i] === column[i] + (i == 0 ? 0 : carry[i - 1]);
    }
    dividend[3] === column[3] + carry[2];
    component less = LessThan(4);
    less.in[0] <== remainder[0] + 4 * remainder[1];
    less.in[1] <== divisor[0] + 4 * divisor[1];
    less.out === 1;`,
    "comparators",
  );

/** More bits than the field has: a number, and the same number plus p. */
const longBits = (checked: boolean) =>
  main(
    `
    signal input in;
    signal output out[256];
    component bits = Num2Bits(${checked ? 253 : 256});
    bits.in <== in;
    for (var i = 0; i < 256; i++) out[i] <== ${checked ? "i < 253 ? bits.out[i < 253 ? i : 0] : 0" : "bits.out[i]"};`,
    "bitify",
  );

const bitSum = (checked: boolean) =>
  main(`
    signal input in;
    signal output out[8];
    var sum = 0;
    for (var i = 0; i < 8; i++) {
        out[i] <-- (in >> i) & 1;
        out[i] * (out[i] - 1) === 0;
        sum += out[i] * (1 << i);
    }
    ${checked ? "sum === in;" : ""}`);

const assignment = (checked: boolean) =>
  main(`
    signal input in;
    signal output out;
    signal square <== in * in;
    out ${checked ? "<==" : "<--"} square * in;`);

const hash = (checked: boolean) =>
  main(
    `
    signal input in;
    signal output out;
    component mimc = MiMC7(91);
    mimc.x_in <== in;
    mimc.k <== 0;
    out ${checked ? "<==" : "<--"} mimc.out;`,
    "mimc",
  );

/** The sum of two points of x^2 + y^2 = 1 + 4 x^2 y^2, which is not complete: 4 is a square. Denominators can be 0. */
const edwards = (checked: boolean) =>
  main(`
    signal input a[2];
    signal input b[2];
    signal output out[2];
    signal first <== a[0] * b[1];
    signal second <== a[1] * b[0];
    signal both <== first * second;
    signal x <== a[0] * b[0];
    signal y <== a[1] * b[1];
    out[0] <-- (first + second) / (1 + 4 * both);
    out[0] * (1 + 4 * both) === first + second;
    out[1] <-- (y - x) / (1 - 4 * both);
    out[1] * (1 - 4 * both) === y - x;
    ${checked ? "signal square <== 16 * both * both; signal inverse <-- 1 / (1 - square); inverse * (1 - square) === 1;" : ""}`);

/** Montgomery addition of two points with the same x divides 0 by 0. */
const montgomery = (checked: boolean) =>
  main(
    `
    signal input a[2];
    signal input b[2];
    signal output out[2];
    component add = MontgomeryAdd();
    add.in1[0] <== a[0];
    add.in1[1] <== a[1];
    add.in2[0] <== b[0];
    add.in2[1] <== b[1];
    out[0] <== add.out[0];
    out[1] <== add.out[1];
    ${checked ? "signal inverse <-- 1 / (b[0] - a[0]); inverse * (b[0] - a[0]) === 1;" : ""}`,
    "montgomery",
  );

const conversion = (checked: boolean) =>
  main(
    `
    signal input in[2];
    signal output out[2];
    component convert = Edwards2Montgomery();
    convert.in[0] <== in[0];
    convert.in[1] <== in[1];
    out[0] <== convert.out[0];
    out[1] <== convert.out[1];
    ${checked ? "signal inverse[2]; inverse[0] <-- 1 / in[0]; inverse[0] * in[0] === 1; inverse[1] <-- 1 / (1 - in[1]); inverse[1] * (1 - in[1]) === 1;" : ""}`,
    "montgomery",
  );

/** Nothing says that the output is 0 if the input is not. */
const isZero = (checked: boolean) =>
  main(`
    signal input in;
    signal output out;
    signal inverse <-- in != 0 ? 1 / in : 0;
    out <== 1 - in * inverse;
    ${checked ? "in * out === 0;" : ""}`);

const wide = (checked: boolean) => `${HEAD}
include "circomlib/circuits/bitify.circom";
component main = Num2Bits(${checked ? 253 : 254});`;

const squareRoot = (checked: boolean) =>
  main(
    `
    signal input in;
    signal output out;
    out <-- in == 4 ? 2 : 0;
    out * out === in;
    ${checked ? "component bits = Num2Bits(252); bits.in <== out;" : ""}`,
    "bitify",
  );

/** A selector that is not 0 or 1 mixes the inputs. */
const selector = (checked: boolean) =>
  main(`
    signal input a;
    signal input b;
    signal input wanted;
    signal output left;
    signal output right;
    signal select <-- wanted == b ? 1 : 0;
    left <== (b - a) * select + a;
    right <== (a - b) * select + b;
    ${checked ? "select * (select - 1) === 0; left === wanted;" : ""}`);

const index = (checked: boolean) =>
  main(
    `
    signal input in[n];
    signal input index;
    signal output out;
    signal flags[n];
    signal parts[n];
    var sum = 0;
    var count = 0;
    for (var i = 0; i < n; i++) {
        flags[i] <-- index == i ? 1 : 0;
        flags[i] * (index - i) === 0;
        parts[i] <== flags[i] * in[i];
        sum += parts[i];
        count += flags[i];
    }
    ${checked ? "count === 1;" : ""}
    out <== sum;`,
    "",
    "n",
    "5",
  );

const decoder = (checked: boolean) =>
  main(
    `
    signal input in;
    signal output out[4];
    component decoder = Decoder(4);
    decoder.inp <== in;
    for (var i = 0; i < 4; i++) out[i] <== decoder.out[i];
    ${checked ? "decoder.success === 1;" : ""}`,
    "multiplexer",
  );

/** The sum of two numbers of two limbs of 16 bits. */
const carry = (checked: boolean) =>
  main(
    `
    signal input a[2];
    signal input b[2];
    signal output out[3];
    signal carry[2];
    component bits[3];
    var before = 0;
    for (var i = 0; i < 2; i++) {
        carry[i] <-- (a[i] + b[i] + before) >> 16;
        out[i] <== a[i] + b[i] + before - carry[i] * 65536;
        ${checked ? "bits[i] = Num2Bits(16); bits[i].in <== out[i]; carry[i] * (carry[i] - 1) === 0;" : ""}
        before = carry[i];
    }
    out[2] <== carry[1];`,
    "bitify",
  );

/** The remainder's range is checked, the quotient's is not: the product wraps around p. */
const modulus = (checked: boolean) =>
  main(
    `
    signal input in;
    signal output quotient;
    signal output remainder;
    quotient <-- in >> 16;
    remainder <-- in & 65535;
    quotient * 65536 + remainder === in;
    component low = Num2Bits(16);
    low.in <== remainder;
    ${checked ? "component high = Num2Bits(200); high.in <== quotient;" : ""}`,
    "bitify",
  );

/** A signature's point that nobody forces to be in the subgroup; here, any point whose multiple by 2 is given. */
const half = (checked: boolean) =>
  main(
    `
    signal input double[2];
    signal output half[2];
    half[0] <-- 0;
    half[1] <-- 1;
    component twice = BabyDbl();
    ${checked ? "half[0] === double[0]; half[1] === double[1];" : "component onCurve = BabyCheck(); onCurve.x <== half[0]; onCurve.y <== half[1];"}
    twice.x <== half[0];
    twice.y <== half[1];
    ${checked ? "" : "twice.xout === double[0]; twice.yout === double[1];"}`,
    "babyjub",
  );

/** The circuits with the bug (false) and without it (true). */
export const BUGS: Readonly<Record<string, (checked: boolean) => string>> = {
  assignment,
  bitSum,
  carry,
  comparison,
  conversion,
  decoder,
  digits,
  division,
  edwards,
  half,
  hash,
  ignored,
  index,
  isZero,
  longBits,
  modulus,
  montgomery,
  rangeBits,
  selector,
  squareRoot,
  wide,
};

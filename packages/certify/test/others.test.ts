import { BUGS } from "@sotto/test-kit/buggy-circuits";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { certifyFiles, problemLines } from "../src/certify.ts";
import { Places } from "../src/locate.ts";
import type { Circuit } from "../src/outcome.ts";
import { squareRoot } from "../src/replay/field.ts";
import { prove } from "../src/theorem.ts";
import { compile } from "./compiled.ts";

const HEAD = "pragma circom 2.0.0;";

/** The sum of two points in Edwards form, with or without checks that they are on the curve. */
const sum = (checked: boolean) => `${HEAD}
include "circomlib/circuits/babyjub.circom";
template Sum() {
    signal input a[2];
    signal input b[2];
    signal output x;
    component onCurve[2];
    component add = BabyAdd();
    ${checked ? "for (var i = 0; i < 2; i++) onCurve[i] = BabyCheck(); onCurve[0].x <== a[0]; onCurve[0].y <== a[1]; onCurve[1].x <== b[0]; onCurve[1].y <== b[1];" : ""}
    add.x1 <== a[0];
    add.y1 <== a[1];
    add.x2 <== b[0];
    add.y2 <== b[1];
    x <== add.xout;
}
component main = Sum();`;

/** circomlib's BabyAdd and BabyDbl with other numbers, for any inputs. */
const addition = (a: bigint, d: bigint, isDouble = false) => `${HEAD}
template Sum() {
    signal input x1;
    signal input y1;
    ${isDouble ? "signal x2 <== x1; signal y2 <== y1;" : "signal input x2; signal input y2;"}
    signal output xout;
    signal output yout;
    signal beta <== x1 * y2;
    signal gamma <== y1 * x2;
    signal delta <== (y1 - ${a} * x1) * (x2 + y2);
    signal tau <== beta * gamma;
    xout <-- (beta + gamma) / (1 + ${d} * tau);
    (1 + ${d} * tau) * xout === beta + gamma;
    yout <-- (delta + ${a} * beta - gamma) / (1 - ${d} * tau);
    (1 - ${d} * tau) * yout === delta + ${a} * beta - gamma;
}
component main = Sum();`;

/** The certificate of a circuit that is shipped without simplification. */
function certifyPlain(name: string, { r1cs, plain }: Circuit, results?: readonly string[]) {
  if (plain === undefined) throw new Error("compiled circuits have one");
  return certifyFiles({ name, shipped: r1cs, plain, places: new Places([], String) }, results);
}

/** How many wires are free. */
async function freeWires(text: string): Promise<number> {
  const { r1cs: file } = await compile(text);
  const { free, problems } = prove(file, file);
  expect(problems).to.deep.equal([]);
  return free.length;
}

describe("certificates of other circuits", function () {
  slow(this, "small circuits are compiled");
  for (const name of [
    "comparison",
    "division",
    "hash",
    "ignored",
    "index",
    "modulus",
    "rangeBits",
    "squareRoot",
    "wide",
  ])
    it(`${name}: refuses the mistake and certifies the circuit without it`, async () => {
      const circuit = BUGS[name] as (typeof BUGS)[string];
      expect(await freeWires(circuit(false))).to.be.above(0);
      expect(await freeWires(circuit(true))).to.equal(0);
    });
});

describe("circomlib's BabyAdd and BabyDbl", function () {
  slow(this, "small circuits are compiled");
  const [a, d] = [168_700n, 168_696n];

  for (const template of ["BabyAdd", "BabyDbl"])
    it(`${template} is certified for all inputs, on the curve or not`, async () => {
      const include = 'include "circomlib/circuits/babyjub.circom";';
      expect(await freeWires(`${HEAD} ${include} component main = ${template}();`)).to.equal(0);
    });

  it("follows from lemma complete for points of the curve, and from the rule nonsquare for others", async () => {
    const lemmas = async (onCurve: boolean) => {
      const { r1cs } = await compile(sum(onCurve));
      const { facts, free } = prove(r1cs, r1cs);
      expect(free).to.deep.equal([]);
      return [...new Set(facts.steps.map(({ rule }) => rule))];
    };
    expect(await lemmas(true)).to.deep.equal(["baby_check", "complete", "completed"]);
    expect(await lemmas(false)).to.deep.equal(["nonsquare"]);
  });

  it("are certified only if neither d nor a d is a square", async () => {
    expect([squareRoot(a), squareRoot(-1n)], "a and -1 are squares").not.to.include(undefined);
    expect([squareRoot(d), squareRoot(-d)], "d and -d are none").to.deep.equal([undefined, undefined]);
    expect(await freeWires(addition(a, d))).to.equal(0);
    expect(await freeWires(addition(a, d, true))).to.equal(0);
    // d is a square, a d is none: only the denominator of yout is not 0.
    expect(await freeWires(addition(d, 4n)), "xout").to.equal(1);
    // a d is a square, d is none.
    expect(await freeWires(addition(d, d)), "yout").to.equal(1);
    expect(await freeWires(addition(4n, 4n)), "both").to.equal(2);
    // For a double, tau is a square: d and -d must not be squares.
    expect(await freeWires(addition(d, d, true)), "a double").to.equal(0);
    expect(await freeWires(addition(a, 4n, true)), "a double").to.equal(2);
  });
});

describe("certificates: a public signal that is a result", () => {
  const square = (checked: boolean) => `${HEAD}
template Square() {
    signal input result;
    signal input side;
    signal area <== side * side;
    ${checked ? "area === result;" : ""}
}
component main {public [result]} = Square();`;

  const certify = async (checked: boolean) => {
    return certifyPlain("square", await compile(square(checked)), ["result"]);
  };

  it("must follow from the other inputs", async () => {
    expect(problemLines(await certify(true))).to.deep.equal([]);
  });

  it("is refused if no constraint uses it", async () => {
    const result = await certify(false);
    expect(problemLines(result)).to.deep.equal([
      "result was determined by the other inputs, and is in no constraint now",
    ]);
    expect(result.certificate).to.deep.include({ results: [], unused: ["result"] });
  });
});

describe("certificates: inputs in no constraint", () => {
  const main = `${HEAD}
template Renamed() {
    signal input a;
    signal input b;
    signal input c;
    signal output outA;
    signal output outB;
    outA <== 2 * a + 1;
    signal x <== b;
    outB <== x;
    signal y <== c;
}
component main = Renamed();`;

  it("are those on which no output depends, also if an output only renames an input", async () => {
    const result = certifyPlain("renamed", await compile(main));
    expect(problemLines(result)).to.deep.equal([]);
    expect(result.certificate.unused).to.deep.equal(["c"]);
  });
});

describe("constraints that only assert", () => {
  it("do not include the constraint that makes a quotient a bit", async () => {
    const source = `pragma circom 2.0.0;
template Quarter() {
  signal input in;
  signal output q;
  signal low;
  signal high;
  signal rest;
  q <-- in >> 2;
  low <-- in & 1;
  high <-- (in >> 1) & 1;
  q * (q - 1) === 0;
  low * (low - 1) === 0;
  high * (high - 1) === 0;
  rest <== 2 * high + low;
  in === 4 * q + rest;
}
component main = Quarter();
`;
    const { r1cs } = await compile(source);
    const { free, asserting } = prove(r1cs, r1cs);
    expect(free).to.deep.equal([]);
    expect(asserting).to.deep.equal([]);
  });
});

// The theorem ports: every input and output of a component is determined, in a circuit without outputs too.
import { gunzipSync, gzipSync } from "node:zlib";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readNames } from "../src/explain.ts";
import { type CertifyOptions, certify } from "../src/outcome.ts";
import { checkCertificate } from "../src/replay/check.ts";
import { parseR1cs } from "../src/replay/r1cs.ts";
import { sha256 } from "../src/theorem.ts";
import { compile } from "./compiled.ts";

/** It has no outputs, and the inverse in its IsZero is free if the two inputs are equal. */
const EQUAL = `pragma circom 2.0.0;
include "circomlib/circuits/comparators.circom";
component main = ForceEqualIfEnabled();`;

/** Two components, the square of whose outputs is compared. Each has a signal that is free if its input is 0. */
const twice = (assign = "<==", log = "", spare = "signal spare", name = "spare") => `pragma circom 2.2.0;
bus Box() { signal x; }
template Square() {
    signal input in;
    signal output out;
    ${spare};
    ${name} <-- 1;
    ${name} * in === in;
    out ${assign} in * in; ${log}
}
template Twice() {
    signal input a;
    signal input b;
    component square[2];
    for (var i = 0; i < 2; i++) square[i] = Square();
    square[0].in <== a;
    square[1].in <== b;
    square[0].out * square[0].out === square[1].out;
}
component main = Twice();`;

const search = () => ({ milliseconds: 60_000, steps: 1_000_000 });
const outcomeOf = async (source: string, options: CertifyOptions = {}) =>
  certify(await compile(source, 1), { search, ...options });

describe("inputs and outputs of components", function () {
  slow(this, "circuits are compiled");

  it("are what a circuit without outputs is certified for if another wire is free", async () => {
    const outcome = await outcomeOf(EQUAL);
    expect(outcome).to.include({ verdict: "certified", theorem: "ports" });
    expect(await outcomeOf(EQUAL, { theorem: "wires" })).to.include({ verdict: "refuted", signal: "main.isz.inv" });
    expect(await outcomeOf(EQUAL, { theorem: "outputs" })).to.deep.include({
      verdict: "unknown",
      reason: "the circuit has no outputs: use --theorem wires, which is about every wire",
    });
    const { r1cs } = await compile(EQUAL, 1);
    expect(certify({ r1cs }, { theorem: "ports" })).to.deep.include({
      verdict: "unknown",
      reason: "only the sources show the components: certify the .circom file",
    });
  });

  it("are claimed with the outputs if the circuit has some", async () => {
    const isZero = (main: string) => `pragma circom 2.0.0;
      include "circomlib/circuits/comparators.circom"; ${main}`;
    const good = isZero("component main = IsEqual();");
    expect(await outcomeOf(good, { theorem: "ports" })).to.include({ verdict: "certified", theorem: "ports" });
    const bad = isZero(`template Bad() { signal input a; signal output out; component zero = IsZero();
      zero.in <-- a; out <== a * a; } component main = Bad();`);
    expect(await outcomeOf(bad)).to.include({ verdict: "certified", theorem: "outputs" });
    expect(await outcomeOf(bad, { theorem: "ports" })).to.include({ verdict: "refuted", theorem: "ports" });
  });

  it("include every signal of which the sources do not show that it is none, but these are not refuted", async () => {
    expect(await outcomeOf(twice())).to.include({ verdict: "certified", theorem: "ports" });
    // The parts of a bus have no template.
    const bus = twice("<==", "", "Box() box", "box.x");
    expect(await outcomeOf(bus)).to.deep.include({ verdict: "unknown", theorem: "ports", open: 2 });
  });

  it("are read from the sources without comments and texts", async () => {
    const free = [
      "",
      'log("; signal out; ");',
      'log("template Square() { signal in; signal out; signal spare; }");',
      "/* template Square() { signal in; signal out; signal spare; } */",
    ];
    for (const log of free)
      expect(await outcomeOf(twice("<--", log)), log).to.include({ verdict: "refuted", theorem: "ports" });
  });

  it("are named by the certificate, and the second checker refuses one that leaves one of them open", async () => {
    const { r1cs, plain, ...circuit } = await compile(EQUAL, 1);
    const source = plain!.r1cs;
    const outcome = certify({ r1cs, plain, ...circuit });
    if (outcome.verdict !== "certified") throw new Error(outcome.verdict);
    const { certificate, checked } = outcome;
    expect(checked.ports).to.be.above(1);
    expect(checkCertificate(r1cs, certificate, source)).to.deep.include({ theorem: "ports", source: sha256(source) });
    expect(() => checkCertificate(r1cs, certificate)).to.throw("the theorem ports is about the circuit without");

    const contents = JSON.parse(gunzipSync(certificate).toString()) as Record<string, unknown>;
    const changed = (change: Record<string, unknown>) => gzipSync(JSON.stringify({ ...contents, ...change }));
    const names = readNames(plain!.sym);
    const parsed = parseR1cs(source, "the source");
    const inverse = [...parsed.wireLabels].findIndex((label) => names.get(Number(label)) === "main.isz.inv");
    const ports = contents["ports"] as number[];
    expect(ports).to.not.include(inverse);
    for (const [change, message] of [
      [{ ports: [...ports, inverse] }, `leaves 1 wires undetermined, first wire ${inverse}`],
      [{ ports: [] }, "the theorem says nothing"],
      [{ ports: [-1] }, "-1 is no wire of the source"],
      [{ ports: [0] }, "0 is no wire of the source"],
      [{ ports: [parsed.wires] }, `${parsed.wires} is no wire of the source`],
      [{ ports: ["1"] }, "instead of a number"],
      [{ ports: undefined }, "only a certificate of the theorem ports names wires"],
      [{ ports: null }, "lacks a list"],
      [{ theorem: "wires" }, "only a certificate of the theorem ports names wires"],
      [{ theorem: "wires", ports: undefined }, "leaves 1 wires undetermined"],
      [{ steps: [] }, "undetermined"],
    ] as const)
      expect(() => checkCertificate(r1cs, changed(change), source), JSON.stringify(change)).to.throw(message);
    expect(checkCertificate(r1cs, changed({ ports: [...ports, ...ports] }), source).ports).to.equal(checked.ports);
  });
});

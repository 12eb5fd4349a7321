import { gunzipSync, gzipSync } from "node:zlib";
import { division } from "@sotto/test-kit/division-circuit";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { CertifyError } from "../src/errors.ts";
import { Facts } from "../src/facts.ts";
import { type CertifyOptions, type Circuit, certify, type Outcome } from "../src/outcome.ts";
import { checkRefutation } from "../src/refute/replay.ts";
import { decodeCertificate, type Theorem } from "../src/replay/certificate.ts";
import { checkCertificate } from "../src/replay/check.ts";
import { inputWires, parseR1cs } from "../src/replay/r1cs.ts";
import { sha256 } from "../src/theorem.ts";
import { compile } from "./compiled.ts";

/** IsZero: its output is determined, its inverse is not. */
const IS_ZERO = `pragma circom 2.0.0;
include "circomlib/circuits/comparators.circom";
component main = IsZero();`;

/** Simplification leaves no constraint and no input. */
const SUM = `pragma circom 2.0.0;
template Sum() { signal input a; signal input b; signal output out; out <== a + b; }
component main = Sum();`;

/** The output follows from the public input; a private input is only compared with itself. */
const PUBLIC = `pragma circom 2.0.0;
template Public() {
    signal input a;
    signal input b;
    signal output out;
    out <== a * a;
    b * b === b;
}
component main {public [a]} = Public();`;

/** The output is the square of a hint, which is the first input or anything. The second input is in no constraint. */
const hinted = (assign: "<==" | "<--", more = "") => `pragma circom 2.0.0;
template Hinted() {
    signal input a;
    signal input b;
    signal output out;
    signal h ${assign} a; ${more}
    out <== h * h;
}
component main = Hinted();`;

function certificateOf(outcome: Outcome): Buffer {
  if (outcome.verdict !== "certified") throw new Error(`${outcome.verdict}, expected certified`);
  return outcome.certificate;
}

type Contents = Record<string, unknown> & { steps: Record<string, unknown>[]; facts: unknown[] };
/** A certificate with other contents. */
function forged(certificate: Buffer, change: (contents: Contents) => void): Buffer {
  const contents = JSON.parse(gunzipSync(certificate).toString()) as Contents;
  change(contents);
  return gzipSync(JSON.stringify(contents));
}

describe("verdicts about any circuit", function () {
  slow(this, "circuits are compiled");
  const verdicts = (circuit: Circuit) =>
    (["outputs", "wires", "strong"] as const).map((theorem: Theorem) => certify(circuit, { theorem }).verdict);

  it("say which theorem holds", async () => {
    expect(verdicts(await compile(division(true), 1))).to.deep.equal(["certified", "certified", "unknown"]);
    expect(verdicts(await compile(division(false), 1))).to.deep.equal(["unknown", "unknown", "unknown"]);
    expect(verdicts(await compile(IS_ZERO, 1))).to.deep.equal(["certified", "unknown", "unknown"]);
    expect(verdicts(await compile(PUBLIC, 1))).to.deep.equal(["certified", "certified", "certified"]);
  });

  it("hold for every level of simplification, and for an r1cs file alone", async () => {
    for (const level of [0, 1, 2] as const) {
      const { r1cs, plain } = await compile(IS_ZERO, level);
      for (const circuit of [{ r1cs, plain }, { r1cs }]) expect(certify(circuit).verdict).to.equal("certified");
    }
  });

  it("do not need an input that no constraint contains", async () => {
    for (const level of [0, 1, 2] as const)
      expect(verdicts(await compile(hinted("<=="), level)), `--O${level}`).to.deep.equal([
        "certified",
        "certified",
        "unknown",
      ]);
  });

  it("give no input that the r1cs file has no wire for", async () => {
    const outcome = certify(await compile(SUM, 2), { theorem: "outputs" });
    if (outcome.verdict !== "unknown") throw new Error(`${outcome.verdict}, expected unknown`);
    expect(outcome.reason).to.contain("the r1cs file has no wire for 2 inputs, first main.a");
    expect(certify(await compile(SUM, 1))).to.deep.include({ verdict: "certified", theorem: "outputs" });
  });

  it("are about the source too, if an output needs an input that the r1cs file has no wire for", async () => {
    const outcome = certify(await compile(SUM, 2));
    expect(outcome).to.deep.include({ verdict: "certified", theorem: "source" });
    // The source's inputs do not determine a hint, at any level.
    for (const level of [1, 2] as const)
      for (const theorem of [undefined, "source"] as const)
        expect(certify(await compile(hinted("<--", "signal x <== a + b;"), level), { theorem }).verdict).to.equal(
          "unknown",
        );
    const quotient = SUM.replace("out <== a + b", "out <-- a / b; out * b === a; signal x <== a");
    expect(certify(await compile(quotient, 2)).verdict).to.equal("unknown");
  });

  it("are about the source after one search for facts, and recommend the theorem source only if it was not tried", async () => {
    const { scan } = Facts.prototype;
    let scans = 0;
    Facts.prototype.scan = function (this: Facts) {
      scans++;
      scan.call(this);
    };
    try {
      certify(await compile(SUM, 2));
      expect(scans).to.equal(1);
    } finally {
      Facts.prototype.scan = scan;
    }
    // An output is a hint, and the other one needs an input that the file has no wire for.
    const circuit = await compile(SUM.replace("out <== a + b;", "out <== a + b; signal output h; h <-- a;"), 2);
    const reason = (theorem?: Theorem) => {
      const outcome = certify(circuit, { theorem });
      return outcome.verdict === "unknown" ? outcome.reason : outcome.verdict;
    };
    expect(reason("outputs")).to.match(
      /first main\.a: a lower --simplify keeps them, and --theorem source gives them$/,
    );
    expect(reason("wires")).to.match(/first main\.a: a lower --simplify keeps them$/);
    for (const theorem of [undefined, "source"] as const)
      expect(reason(theorem)).to.equal("1 of 2 outputs are not shown to be determined");
  });

  it("say that an r1cs file alone does not name the inputs that it has no wire for", async () => {
    const { r1cs } = await compile(SUM, 2);
    expect(certify({ r1cs }))
      .to.have.property("reason")
      .that.includes("the r1cs file alone does not say what 2 of its 2 inputs are")
      .and.includes("certify the .circom file");
  });

  it("are unknown if a circuit has no outputs, unless every wire is meant", async () => {
    const circuit = await compile(
      "pragma circom 2.0.0; template A() { signal input a; signal b <== a * a; } component main = A();",
    );
    expect(verdicts(circuit)).to.deep.equal(["unknown", "certified", "unknown"]);
  });

  it("are about every wire of a circuit without outputs by default, and never refute it for one with two values", async () => {
    const outcomeOf = async (constraints: string) =>
      certify(
        await compile(`pragma circom 2.0.0; template A() { signal input a; ${constraints} } component main = A();`),
        {
          search: () => ({ milliseconds: 60_000, steps: 1_000_000 }),
        },
      );
    expect(await outcomeOf("signal b <== a * a; b * b === a;")).to.include({ verdict: "certified", theorem: "wires" });
    // As the inverse of IsZero.
    expect(await outcomeOf("signal c <== a * a; signal b; b <-- a; a * b === c;")).to.deep.include({
      ...{ verdict: "unknown", theorem: "wires", open: 1 },
      reason:
        "1 of 3 wires are not shown to be determined, and the circuit has no outputs (--theorem wires searches for two values of any wire)",
    });
  });

  it("refute a circuit without outputs if an output of a component has two values", async () => {
    // The root follows from the leaf, and a leaf cannot be computed from the root. One level does not constrain its output.
    const path = (assign: string): string => `pragma circom 2.0.0;
      template Level(i) {
        signal input in;
        signal output out;
        signal square <== in * in;
        signal fourth <== square * square;
        out ${assign} fourth * in;
        // As in IsZero: it is free if in is 0, and nothing depends on it.
        signal inverse <-- in == 0 ? 0 : 1 / in;
        signal one <== in * inverse;
        in * (1 - one) === 0;
      }
      template Path() {
        signal input root;
        signal input leaf;
        component level[3];
        for (var i = 0; i < 3; i++) {
          level[i] = Level(i);
          level[i].in <== i == 0 ? leaf : level[i - 1].out;
        }
        root === level[2].out;
      }
      component main { public [root] } = Path();`;
    const search = () => ({ milliseconds: 60_000, steps: 1_000_000 });
    const broken = certify(await compile(path("<--")), { search });
    expect(broken).to.deep.include({ verdict: "refuted", theorem: "ports", signal: "main.level[0].out" });
    expect(certify(await compile(path("<==")), { search })).to.include({ verdict: "certified", theorem: "ports" });
  });
});

/** Simplification replaces the input `a` by the input `b`. */
const ELIMINATED = `pragma circom 2.0.0;
template Eliminated() {
    signal input a;
    signal input b;
    signal input c;
    signal output out;
    a === 2 * b + 1;
    out <-- a / c;
    out * c === a;
}
component main = Eliminated();`;

describe("refutation of any circuit", function () {
  slow(this, "circuits are compiled");
  const search = () => ({ milliseconds: 60_000, steps: 1_000_000 });
  const refuted = (circuit: Circuit, theorem: Theorem) => {
    const outcome = certify(circuit, { theorem, search });
    if (outcome.verdict !== "refuted") throw new Error(`${outcome.verdict}, expected refuted`);
    return outcome;
  };

  it("says which theorem is false, with witnesses of the r1cs file at every level of simplification", async () => {
    for (const level of [0, 1, 2] as const)
      for (const text of [division(false), ELIMINATED]) {
        const circuit = await compile(text, level);
        for (const theorem of ["outputs", "wires", "strong"] as const) {
          const { signal, values, given, witnesses } = refuted(circuit, theorem);
          expect(checkRefutation(circuit.r1cs, theorem, witnesses)).to.equal(undefined);
          expect(values[0]).to.not.equal(values[1]);
          expect(signal).to.match(/^main\./);
          if (theorem === "strong") expect(given).to.deep.equal([]);
          else expect(given.map((one) => one.signal)).to.include("main.b");
        }
      }
    const stopped = certify(await compile(division(false)), { search: () => ({ steps: 1 }) });
    expect(stopped).to.have.property("reason").that.includes("the search for two witnesses reached its limits");
    expect(refuted(await compile(IS_ZERO), "wires").signal).to.equal("main.inv");
    expect(refuted(await compile(IS_ZERO), "strong").signal).to.equal("main.out");
  });

  it("does not refute what holds, nor an r1cs file that lacks an input", async () => {
    const verdicts = (circuit: Circuit) =>
      (["outputs", "wires"] as const).map((theorem) => certify(circuit, { theorem, search }).verdict);
    expect(verdicts(await compile(division(true), 1))).to.deep.equal(["certified", "certified"]);
    const { r1cs, plain } = await compile(SUM, 2);
    for (const circuit of [{ r1cs }, { r1cs, plain }]) expect(verdicts(circuit)).to.deep.equal(["unknown", "unknown"]);
  });

  it("reports what is known before it searches", async () => {
    const seen: unknown[] = [];
    const onStage = (...[stage, soFar]: Parameters<NonNullable<CertifyOptions["onStage"]>>) =>
      seen.push([stage, soFar?.verdict]);
    certify(await compile(division(false)), { onStage, search });
    expect(seen).to.deep.equal([
      ["prove", undefined],
      ["search", "unknown"],
    ]);
  });
});

describe("certificate files", function () {
  slow(this, "circuits are compiled");
  let circuit: Circuit;
  let certificate: Buffer;
  before(async () => {
    circuit = await compile(division(true), 1);
    certificate = certificateOf(certify(circuit));
  });

  it("are replayed by the second checker alone, which says what they show", () => {
    const { theorem, outputs, steps } = checkCertificate(circuit.r1cs, certificate);
    expect([theorem, outputs]).to.deep.equal(["outputs", 1]);
    expect(steps).to.be.above(0);
  });

  it("are about one r1cs file", async () => {
    const { r1cs } = await compile(division(false), 1);
    expect(() => checkCertificate(r1cs, certificate)).to.throw("another r1cs file");
    const renamed = forged(certificate, (contents) => {
      contents["r1cs"] = sha256(r1cs);
    });
    expect(() => checkCertificate(r1cs, renamed)).to.throw();
  });

  it("are refused without one of their steps, or with a stronger theorem", () => {
    const every = certificateOf(certify(circuit, { theorem: "wires" }));
    const { steps } = decodeCertificate(every);
    expect(steps).to.have.length(2);
    for (const index of steps.keys()) {
      const rest = forged(every, (one) => one.steps.splice(index, 1));
      expect(() => checkCertificate(circuit.r1cs, rest)).to.throw("the proof leaves 1 wires undetermined");
    }
    const strong = forged(certificate, (contents) => {
      contents["theorem"] = "strong";
    });
    expect(() => checkCertificate(circuit.r1cs, strong)).to.throw();
  });

  it("of the theorem source are about a file without simplification that the caller names", async () => {
    const { r1cs, plain } = await compile(SUM, 2);
    const source = plain?.r1cs as Buffer;
    const shown = certificateOf(certify({ r1cs, plain }));
    expect(checkCertificate(r1cs, shown, source)).to.deep.include({ theorem: "source", source: sha256(source) });
    expect(() => checkCertificate(r1cs, shown)).to.throw(`whose SHA-256 is ${sha256(source)}: compile it`);
    const other = (await compile(SUM.replace("a + b", "a - b"))).r1cs;
    expect(() => checkCertificate(r1cs, shown, other)).to.throw("the certificate has another one");
    const stronger = forged(shown, (contents) => {
      contents["theorem"] = "outputs";
    });
    expect(() => checkCertificate(r1cs, stronger, source)).to.throw();
    // The output of this file is free, but a stranger's circuit says that it is the sum of two inputs.
    const free = await compile(SUM.replace("<==", "<--"), 2);
    const lie = forged(shown, (contents) => {
      contents["r1cs"] = sha256(free.r1cs);
    });
    expect(() => checkCertificate(free.r1cs, lie, free.plain?.r1cs)).to.throw("the certificate has another one");
    // The stranger's circuit counts a hint as an input.
    const more = Buffer.from(free.plain?.r1cs as Buffer);
    more.writeUInt32LE(3, more.indexOf(Buffer.from([2, 0, 0, 0, 4, 0, 0, 0])));
    const counted = forged(lie, (contents) => {
      contents["plain"] = more.toString("base64");
    });
    expect(() => checkCertificate(free.r1cs, counted, more)).to.throw("another number of inputs");
  });

  it("cannot make an input of another wire", async () => {
    const free = await compile(hinted("<--"), 1);
    expect(inputWires(parseR1cs(free.r1cs, "the file"))).to.deep.equal([]);
    const withInput = (plain: Buffer) =>
      forged(certificateOf(certify({ r1cs: plain })), (contents) => {
        contents["r1cs"] = sha256(free.r1cs);
        contents["plain"] = plain.toString("base64");
      });
    // The r1cs file has no wires for its inputs, so that nothing contradicts that they equal the hint.
    const { r1cs: renamed } = await compile(hinted("<==", "b === a;"));
    expect(() => checkCertificate(free.r1cs, withInput(renamed))).to.throw("another unknown wire");
    // The hint is said to be a third private input.
    const { r1cs: more } = await compile(hinted("<--"));
    more.writeUInt32LE(3, more.indexOf(Buffer.from([2, 0, 0, 0, 5, 0, 0, 0])));
    expect(certify({ r1cs: more }).verdict).to.equal("certified");
    expect(() => checkCertificate(free.r1cs, withInput(more))).to.throw("another unknown wire");
    expect(certify({ r1cs: free.r1cs, plain: { r1cs: more, sym: "" } })).to.deep.include({
      verdict: "unknown",
      reason: "the shipped file has another number of inputs than the source",
    });
  });

  it("cannot give a wire as a sign, nor contain what is not a step", () => {
    const wrong: ((contents: Contents) => void)[] = [
      (one) => one.steps.unshift({ rule: "sign", wire: 1, by: 0 }),
      (one) => one.steps.unshift({ rule: "constructor" }),
      (one) => one.steps.unshift({ rule: "linear", by: 0, wire: "1", nonzero: -1 }),
      (one) => one.steps.unshift({ rule: "linear", by: 0, wire: 0.5, nonzero: -1 }),
      (one) => one.steps.unshift({ rule: "linear", by: 0, wire: 1, nonzero: -1, extra: 1 }),
      (one) => one.facts.push({ rule: "boolean", by: 0 }),
      (one) => Object.assign(one, { format: "sotto-certificate-0" }),
      (one) => Object.assign(one, { theorem: "everything" }),
      (one) => Object.assign(one, { facts: {} }),
    ];
    for (const change of wrong)
      expect(() => decodeCertificate(forged(certificate, change)), String(change)).to.throw("the certificate");
    expect(() => decodeCertificate(Buffer.from("{}"))).to.throw("compressed JSON");
    expect(() => decodeCertificate(gzipSync("null"))).to.throw("the certificate");
    expect(() => decodeCertificate(gzipSync(`["\\"]",${"[".repeat(1000)}`))).to.throw("more than 10 levels");
  });

  it("show nothing about a circuit with a free output when their steps are random", async () => {
    const { r1cs, plain } = await compile(division(false), 1);
    const random = new Random("forged");
    const size = fuzzSize(200, 20_000);
    for (let i = 0; i < size; i++) {
      const other = forged(certificate, (contents) => {
        contents["r1cs"] = sha256(r1cs);
        contents["plain"] = plain?.r1cs.toString("base64");
        contents["steps"] = Array.from({ length: 1 + random.below(3) }, () => ({
          rule: "linear",
          by: random.below(2),
          wire: random.below(4),
          nonzero: random.below(3) - 1,
        }));
        contents.facts = contents.facts.slice(random.below(2));
      });
      expect(() => checkCertificate(r1cs, other)).to.throw();
    }
  });
});

describe("damaged circuits", function () {
  slow(this, "a circuit is compiled");

  it("give a CertifyError or a verdict when random bytes change", async () => {
    const { r1cs } = await compile(division(true), 1);
    const random = new Random("damaged");
    const size = fuzzSize(300, 30_000);
    let refused = 0;
    for (let i = 0; i < size; i++) {
      const copy = Buffer.from(r1cs);
      copy.writeUInt32LE(random.below(4) === 0 ? 2 ** 32 - 1 : random.below(300), random.below(copy.length - 3));
      try {
        expect(certify({ r1cs: copy }).verdict).to.be.oneOf(["certified", "unknown"]);
      } catch (error) {
        expect(error, (error as Error).stack ?? "").to.be.instanceOf(CertifyError);
        refused++;
      }
    }
    expect(refused).to.be.above(size / 10);
  });
});

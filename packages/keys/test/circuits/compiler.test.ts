import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compileCircuit } from "../../src/circuits/compiler.ts";
import { buildFolder, parseCircuitNames } from "../../src/circuits/paths.ts";
import { sourceFiles } from "../../src/circuits/sources.ts";

const MAIN = `pragma circom 2.2.0;
include "lib/square.circom";
include "circomlib/circuits/bitify.circom";

template Main() {
    signal input a;
    signal input b;
    component bits = Num2Bits(3);
    bits.in <== a;
    component square = Square();
    square.in <== b;
    square.out === a;
}

component main {public [a]} = Main();
`;
const SQUARE = (factor: number) => `pragma circom 2.2.0;

template Square() {
    signal input in;
    signal output out <== ${factor} * in * in;
}
`;

describe("compiling a circuit", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let folder: string;
  const path = (name: string) => join(folder, name);

  beforeEach(() => {
    // Inside the checkout, because only there the sandboxed compiler resolves an include relative to the including file.
    mkdirSync(buildFolder, { recursive: true });
    folder = mkdtempSync(join(buildFolder, ".compile-"));
    mkdirSync(path("lib"));
    writeFileSync(path("main.circom"), MAIN);
    writeFileSync(path("lib/square.circom"), SQUARE(1));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("writes r1cs, wasm and sym, and counts constraints", async () => {
    const compiled = await compileCircuit(path("main.circom"), path("out"));
    for (const file of [compiled.paths.r1cs, compiled.paths.wasm, compiled.paths.sym])
      expect(statSync(file).size, file).to.be.greaterThan(0);
    expect(compiled).to.include({ publicInputs: 1, privateInputs: 1, publicOutputs: 0, cached: false });
    // Three bits and a square; --O2 removes the linear constraints.
    expect(compiled.constraints).to.equal(4);
    expect(readdirSync(path("out")).filter((file) => file.startsWith(".circom-"))).to.deep.equal([]);
  });

  it("runs only if the content of a source has changed", async () => {
    const compile = () => compileCircuit(path("main.circom"), path("out"));
    expect((await compile()).cached).to.equal(false);
    expect((await compile()).cached).to.equal(true);
    writeFileSync(path("lib/square.circom"), SQUARE(3));
    expect((await compile()).cached, "an included file changed").to.equal(false);
    rmSync(path("out/main.sym"));
    expect((await compile()).cached, "an output is missing").to.equal(false);
    appendFileSync(path("out/main.r1cs"), " ");
    expect((await compile()).cached, "an output is damaged").to.equal(false);
    writeFileSync(path("out/.compiled"), "{");
    expect((await compile()).cached, "the stamp is damaged").to.equal(false);
    expect((await compile()).cached).to.equal(true);
  });

  it("reports circom's own message with file and line, and leaves no output", async () => {
    writeFileSync(path("lib/square.circom"), SQUARE(1).replace("in * in", "in * other"));
    const { message } = await expectRejected("CIRCOM_FAILED", () => compileCircuit(path("main.circom"), path("out")));
    expect(message).to.match(/error\[T\d+\]/);
    expect(message)
      .to.include("lib/square.circom")
      .and.to.match(/:5:\d+/);
    expect(message).to.not.match(/^\s+at /m);
    expect(message, "with line breaks, and the error underlined").to.match(/^\s+│ +\^+ /m);
    expect(readdirSync(path("out"))).to.deep.equal([]);
  });

  it("can be aborted, and leaves no output", async () => {
    const stop = new AbortController();
    const stopped = { onStart: () => setImmediate(() => stop.abort()), stop: stop.signal };
    await expectRejected("CIRCOM_FAILED", () => compileCircuit(path("main.circom"), path("out"), stopped));
    expect(readdirSync(path("out"))).to.deep.equal([]);
  });

  it("does not use an earlier version of a circuit that no longer compiles", async () => {
    await compileCircuit(path("main.circom"), path("out"));
    writeFileSync(path("main.circom"), MAIN.replace("Num2Bits(3)", "Num2Bits()"));
    for (const _attempt of [1, 2])
      await expectRejected("CIRCOM_FAILED", () => compileCircuit(path("main.circom"), path("out")));
  });

  it("names a missing source and a missing include", async () => {
    await expectRejected("SOURCE_MISSING", () => compileCircuit(path("none.circom"), path("out")));
    rmSync(path("lib/square.circom"));
    const { message } = await expectRejected("INCLUDE_MISSING", () => compileCircuit(path("main.circom"), path("out")));
    expect(message).to.include("main.circom").and.to.include("lib/square.circom");
    expect(existsSync(path("out"))).to.equal(false);
  });

  it("follows nested includes once, and ignores commented-out ones", () => {
    writeFileSync(path("a.circom"), 'include "b.circom";\n// include "none.circom";\ninclude "lib/square.circom";\n');
    writeFileSync(path("b.circom"), 'include "a.circom";\n  include "lib/square.circom";\n');
    const expected = ["a.circom", "b.circom", "lib/square.circom"].map(path);
    expect(sourceFiles(path("a.circom"), []).sort()).to.deep.equal(expected);
  });

  it("rejects an unknown circuit, and lists the known ones", async () => {
    const { message } = await expectRejected("CIRCUIT_UNKNOWN", () => parseCircuitNames(["payment", "paiment"]));
    expect(message).to.include("paiment").and.to.include("withdrawal");
  });
});

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { division } from "@sotto/test-kit/division-circuit";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { certify } from "../src/outcome.ts";
import { compile, writeCircuit } from "./compiled.ts";

const program = join(import.meta.dirname, "..", "dist", "main.js");

/** Runs the program with a folder of its own for temporary files. */
function run(...options: string[]) {
  const scratch = temporaryFolder("certify-scratch");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: scratch, TEMP: scratch },
  });
  return { status, stdout, stderr, left: readdirSync(scratch) };
}

/** The output is 0, but no rule knows a double root. */
const DOUBLE_ROOT = `pragma circom 2.0.0;
template DoubleRoot() {
    signal input in;
    signal output out;
    out <-- 0;
    out * out === 0;
}
component main = DoubleRoot();`;

describe("the program certify", function () {
  slow(this, "circuits are compiled by new processes");
  let good: string;
  let bad: string;
  before(() => {
    good = writeCircuit(division(true));
    bad = writeCircuit(division(false));
  });

  it("certifies a circuit, and its certificate is replayed alone", async () => {
    const certificate = join(dirname(good), "certificate");
    const { status, stdout, left } = run(good, "--out", certificate);
    expect([status, left]).to.deep.equal([0, []]);
    expect(stdout).to.contain("certified: all inputs together determine every output (theorem outputs)");
    const r1cs = join(dirname(good), "main.r1cs");
    writeFileSync(r1cs, (await compile(division(true), 1)).r1cs);
    expect(run("--check", r1cs, certificate)).to.deep.include({ status: 0, stderr: "" });
    writeFileSync(r1cs, (await compile(division(false), 1)).r1cs);
    const refused = run("--check", r1cs, certificate);
    expect(refused.status).to.equal(2);
    expect(refused.stdout).to.contain("another r1cs file");
  });

  it("replays a certificate only for the theorem that is named, and refuses options that a replay does not have", async () => {
    const folder = temporaryFolder("certify-check");
    const r1cs = join(folder, "main.r1cs");
    writeFileSync(r1cs, (await compile(division(true), 1)).r1cs);
    const paths = { outputs: join(folder, "outputs"), wires: join(folder, "wires") };
    for (const [theorem, path] of Object.entries(paths))
      expect(run(good, "--theorem", theorem, "--out", path).status).to.equal(0);
    for (const [path, theorem, status] of [
      [paths.outputs, "outputs", 0],
      [paths.outputs, "wires", 2],
      [paths.outputs, "strong", 2],
      [paths.wires, "outputs", 0],
      [paths.wires, "wires", 0],
    ] as const)
      expect(run("--check", r1cs, path, "--theorem", theorem).status, `${path} ${theorem}`).to.equal(status);
    const source = join(folder, "source.r1cs");
    const certificate = join(folder, "source");
    const sum = await compile(
      "pragma circom 2.0.0; template A() { signal input a; signal output b; b <== a; } component main = A();",
      1,
    );
    const shipped = join(folder, "shipped.r1cs");
    for (const [path, file] of [
      [shipped, sum.r1cs],
      [source, sum.plain?.r1cs],
    ] as const)
      writeFileSync(path, file as Buffer);
    const outcome = certify(sum);
    writeFileSync(certificate, outcome.verdict === "certified" ? outcome.certificate : "");
    expect(run("--check", shipped, certificate).status).to.equal(2);
    expect(run("--check", shipped, certificate, "--source", source).stdout).to.contain("(theorem source)");
    for (const theorem of ["outputs", "wires", "strong"])
      expect(run("--check", shipped, certificate, "--source", source, "--theorem", theorem).status, theorem).to.equal(
        2,
      );
    expect(run(good, "--source", source)).to.deep.include({ status: 3, stdout: "" });
    const { stdout } = run("--check", r1cs, paths.wires, "--json");
    expect(JSON.parse(stdout)).to.deep.include({ verdict: "certified", theorem: "wires" });
    expect(run("--check", r1cs, paths.wires, "--time", "0.001").stdout).to.contain("raise it with --time");
    for (const wrong of [["--simplify", "2"], ["--out", paths.wires], ["-l", folder], ["extra"]])
      expect(run("--check", r1cs, paths.wires, ...wrong), wrong.join(" ")).to.deep.include({ status: 3, stdout: "" });
    expect(run("--check", r1cs, folder)).to.deep.include({
      status: 3,
      stderr: `certify: there is no file ${folder}\n`,
    });
  });

  it("refuses a file that it could not write before it compiles", () => {
    const folder = temporaryFolder("certify-unwritable");
    for (const option of ["--out", "--sarif"])
      for (const path of [folder, join(folder, "missing", "file")]) {
        const { status, stdout, stderr } = run(good, option, path);
        expect([status, stdout], `${option} ${path}`).to.deep.equal([3, ""]);
        expect(stderr).to.match(/^certify: .*(is a folder|no such file or directory)[^\n]*\n$/);
      }
  });

  it("says unknown with place, reason and remedy, as text, JSON, SARIF and annotations", () => {
    const open = writeCircuit(DOUBLE_ROOT);
    const sarif = join(dirname(open), "report.sarif");
    const text = run(open, "--github", "--sarif", sarif);
    expect(text.status).to.equal(2);
    expect(text.stdout)
      .to.contain("main.out @ ")
      .and.to.contain("no two witnesses were found")
      .and.to.match(/^::warning file=.*main\.circom,line=5,title=certify::main\.out/m);
    const { runs } = JSON.parse(readFileSync(sarif, "utf8")) as {
      runs: { results: { ruleId: string; locations: { physicalLocation: { region: { startLine: number } } }[] }[] }[];
    };
    expect(runs[0]?.results[0]?.ruleId).to.equal("unknown");
    expect(runs[0]?.results[0]?.locations[0]?.physicalLocation.region.startLine).to.equal(5);
    const { stdout } = run(open, "--json");
    expect(JSON.parse(stdout)).to.deep.include({ verdict: "unknown", theorem: "outputs", open: 1 });
  });

  it("refutes a circuit with the signal and its two values in every format, and never its fixed form", () => {
    const sarif = join(dirname(bad), "report.sarif");
    const text = run(bad, "--github", "--sarif", sarif, "--time", "60");
    expect(text).to.deep.include({ status: 1, stderr: "", left: [] });
    for (const line of ["main.q has two values, so it is false", "main.q = 0 in witness 1", "main.q = 1 in witness 2"])
      expect(text.stdout).to.contain(line);
    for (const input of ["main.a = 0 in both", "main.b = 0 in both"]) expect(text.stdout).to.contain(input);
    const message = "main.q has two values for the same inputs: 0 and 1.";
    expect(text.stdout).to.match(new RegExp(`^::error file=.*main\\.circom,line=7,title=certify::${message}`, "m"));
    const { runs } = JSON.parse(readFileSync(sarif, "utf8")) as {
      runs: { results: { ruleId: string; level: string; message: { text: string } }[] }[];
    };
    expect(runs[0]?.results[0]).to.deep.include({ ruleId: "refuted", level: "error" });
    expect(runs[0]?.results[0]?.message.text).to.contain(message);
    expect(JSON.parse(run(bad, "--json").stdout)).to.deep.include({
      verdict: "refuted",
      signal: "main.q",
      values: ["0", "1"],
      witnesses: [
        ["1", "0", "0", "0"],
        ["1", "1", "0", "0"],
      ],
    });
    expect(run(good).status).to.equal(0);
  });

  it("names the inputs that no constraint contains", () => {
    const unused = run(writeCircuit(division(true).replace("signal input a;", "signal input a; signal input bound;")));
    expect(unused.status).to.equal(0);
    expect(unused.stdout).to.match(/\n {2}main\.bound is in no constraint\n$/);
    expect(run(good).stdout).not.to.contain("in no constraint");
  });

  it("finds includes beside the circuit and in the folders of -l", () => {
    const folder = temporaryFolder("certify-includes");
    mkdirSync(join(folder, "lib"));
    const [template, main] = division(true).split("component main");
    writeFileSync(join(folder, "lib", "division.circom"), template as string);
    const path = join(folder, "main.circom");
    writeFileSync(path, `pragma circom 2.0.0; include "division.circom"; component main${main}`);
    const missing = run(path);
    expect(missing.status).to.equal(3);
    expect(missing.stderr).to.contain("name the library's folder with -l");
    expect(run(path, "-l", join(folder, "lib")).status).to.equal(0);
  });

  it("reads an r1cs file with its .sym file, and refuses one that is cut or another circuit's", async () => {
    const folder = temporaryFolder("certify-r1cs");
    const { r1cs, plain } = await compile(division(true));
    const [file, sym] = [join(folder, "a.r1cs"), join(folder, "a.sym")];
    writeFileSync(file, r1cs);
    writeFileSync(sym, plain?.sym ?? "");
    expect(run(file, "--sym", sym).status).to.equal(0);
    writeFileSync(sym, "1,1,0,main.q\n");
    expect(run(file, "--sym", sym)).to.deep.include({ status: 3, stdout: "" });
    truncateSync(file, 200);
    const cut = run(file);
    expect(cut.status).to.equal(3);
    expect(cut.stderr).to.contain("the r1cs file ends early");
  });

  it("refuses options and circuits that are wrong with exit code 3, and leaves no files", () => {
    const broken = writeCircuit("pragma circom 2.0.0; template A() { foo }");
    for (const options of [[broken], ["missing.circom"], ["a.txt"], [], [good, "--theorem", "all"], ["--nothing"]]) {
      const { status, stderr, left } = run(...options);
      expect([status, left], options.join(" ")).to.deep.equal([3, []]);
      expect(stderr).to.match(/^certify: /);
    }
  });

  it("stops at its limit of memory while it reads a certificate of many small objects", async () => {
    const folder = temporaryFolder("certify-objects");
    const [r1cs, certificate] = [join(folder, "main.r1cs"), join(folder, "certificate")];
    writeFileSync(r1cs, (await compile(division(true), 1)).r1cs);
    writeFileSync(certificate, gzipSync(`{"steps":[${"{},".repeat(2_000_000)}{}]}`));
    const { status, stdout, stderr, left } = run("--check", r1cs, certificate, "--memory", "48");
    expect([status, stderr, left]).to.deep.equal([2, "", []]);
    expect(stdout).to.contain("the run reached its limit of 48 MB; raise it with --memory");
  });

  it("stops at its limits of time and memory with exit code 2 and the reason, and leaves no files", () => {
    for (const [option, value] of [
      ["--time", "0.001"],
      ["--memory", "8"],
    ] as const) {
      const { status, stdout, left } = run(writeCircuit(division(true)), option, value);
      expect([status, left], stdout).to.deep.equal([2, []]);
      expect(stdout).to.contain(`raise it with ${option}`);
    }
    expect(existsSync(good)).to.equal(true);
  });
});

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { circuitNames, circuitsFolder, root } from "@sotto/keys/circuits/paths";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { changedSince, hashSources, markTested } from "../changes.ts";
import { countTable, withCounts } from "../counts.ts";
import { circuitsOf, groupTests, testsOf } from "../select.ts";
import { watchCircuits } from "../watch.ts";

describe("the circuit developer's loop", function () {
  slow(this, "keys, circuits and ceremonies are made");
  it("detects what changed since its tests passed, and assumes everything if it cannot tell", () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-loop-"));
    const stamp = join(folder, "tested.json");
    const now = hashSources();
    const template = "../packages/keys/src/verifiers/verifier.sol.ejs";
    expect(Object.keys(now)).to.include.members(["payment.circom", "lib/range.circom", template]);
    expect(changedSince(now, stamp)).to.deep.equal(Object.keys(now));
    markTested(now, stamp);
    expect(changedSince(now, stamp)).to.deep.equal([]);
    expect(changedSince({ ...now, "lib/range.circom": "another" }, stamp)).to.deep.equal(["lib/range.circom"]);
    expect(changedSince({ ...now, "lib/new.circom": "new" }, stamp)).to.deep.equal(["lib/new.circom"]);
    const another = { ...now, "payment.circom": "another" };
    markTested(another, stamp);
    expect(changedSince(now, stamp), "taken back").to.deep.equal([]);
    expect(changedSince({ ...another, "lib/range.circom": "new" }, stamp)).to.deep.equal(["lib/range.circom"]);
    writeFileSync(stamp, '[{"payment');
    expect(changedSince(now, stamp)).to.deep.equal(Object.keys(now));
    rmSync(folder, { recursive: true });
  });

  it("selects the circuits and tests that depend on a changed file", () => {
    expect(circuitsOf(["lib/append_path.circom"])).to.deep.equal(["note_append"]);
    expect(circuitsOf(["lib/elgamal.circom"])).to.deep.equal(["payment", "elgamal_range"]);
    expect(circuitsOf(["lib/range.circom"])).to.deep.equal([...circuitNames]);
    const append = testsOf(["lib/append_path.circom"]);
    expect(append).to.include.members(["test/gadgets/append.test.ts", "test/mains/append.test.ts"]);
    expect(append).to.not.include.members(["test/gadgets/elgamal.test.ts"]);
    expect(append).to.not.include.members(["test/mains/payment.test.ts"]);
    expect(testsOf([])).to.deep.equal([
      "test/mains/interface.test.ts",
      "test/soundness/coverage.test.ts",
      "test/soundness/soundness.test.ts",
    ]);
  });

  it("starts tests that need no package before the packages are built", () => {
    const { attacks, circuits, packages } = groupTests(testsOf(["payment.circom"]));
    expect(attacks).to.include("test/soundness/soundness.test.ts");
    expect(circuits).to.include.members(["test/mains/payment.test.ts", "test/mains/interface.test.ts"]);
    expect(packages).to.deep.equal(["test/mains/protocol.test.ts"]);
    expect([...attacks, ...circuits, ...packages].sort()).to.deep.equal(testsOf(["payment.circom"]).sort());
  });

  it("updates only the counts in circuits.json", () => {
    const text = readFileSync(join(circuitsFolder, "circuits.json"), "utf8");
    const before = JSON.parse(text).circuits;
    for (const name of circuitNames) {
      const changed = withCounts(text, name, { constraints: 7, wires: 9 });
      const expected = { ...before, [name]: { ...before[name], constraints: 7, wires: 9 } };
      expect(JSON.parse(changed).circuits).to.deep.equal(expected);
      const { constraints, wires } = before[name];
      expect(withCounts(changed, name, { constraints, wires })).to.equal(text);
    }
  });

  it("shows the counts beside the committed counts", () => {
    const compiled = new Map([
      ["payment", { constraints: 8_154, wires: 1 }],
      ["withdrawal", { constraints: 38_804, wires: 1 }],
      ["note_append", { constraints: 14_000, wires: 1 }],
      ["elgamal_range", { constraints: 2_370, wires: 1 }],
    ] as const);
    const committed = new Map([
      ["payment", 8_153],
      ["withdrawal", 38_804],
      ["note_append", 14_246],
    ]);
    expect(countTable(compiled, committed).split("\n")).to.deep.equal([
      "circuit        constraints  committed",
      "payment               8154       8153    +1",
      "withdrawal           38804      38804",
      "note_append          14000      14246  -246",
      "elgamal_range         2370          -",
    ]);
  });

  it("with --watch runs immediately and after each save of a source, but not after its own writes", async () => {
    const end = new AbortController();
    const turns = new EventEmitter();
    let count = 0;
    const watching = watchCircuits(async () => {
      count += 1;
      turns.emit("turn");
    }, end.signal);
    await setTimeout(50);
    expect(count).to.equal(1);
    const touch = (file: string) => utimesSync(join(circuitsFolder, file), new Date(), new Date());
    touch("circuits.json");
    await setTimeout(400);
    expect(count).to.equal(1);
    const next = once(turns, "turn");
    touch("lib/bound.circom");
    touch("payment.circom");
    await next;
    await setTimeout(400);
    expect(count, "two files saved together are one turn").to.equal(2);
    const attacked = once(turns, "turn");
    touch("test/soundness/range.ts");
    await attacked;
    end.abort();
    await watching;
  });

  it("detects saves in place and by replacement", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-watch-"));
    const path = (file: string) => join(folder, file);
    mkdirSync(path("lib"));
    mkdirSync(path("test/gadgets"), { recursive: true });
    writeFileSync(path("lib/range.circom"), "1");
    const end = new AbortController();
    const turns = new EventEmitter();
    let next = once(turns, "turn");
    const watching = watchCircuits(async () => void turns.emit("turn"), end.signal, folder);
    const saves: (() => void)[] = [
      () => writeFileSync(path("lib/range.circom"), "2"),
      () => {
        writeFileSync(path("lib/range.circom~"), "3");
        renameSync(path("lib/range.circom~"), path("lib/range.circom"));
      },
      () => writeFileSync(path("lib/range.circom"), "4"),
      () => writeFileSync(path("lib/new.circom"), "1"),
      () => writeFileSync(path("test/gadgets/new.test.ts"), "1"),
      () => rmSync(path("lib/new.circom")),
    ];
    for (const save of saves) {
      await next;
      next = once(turns, "turn");
      save();
    }
    await next;
    end.abort();
    await watching;
    rmSync(folder, { recursive: true });
  });

  it("rejects an unknown option in one line", async () => {
    const child = spawn(process.execPath, ["scripts/loop/main.ts", "--wach"], { cwd: root });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const status = await new Promise((resolve) => child.once("close", resolve));
    expect(status).to.equal(1);
    expect(output).to.equal('sotto: UNKNOWN_OPTION: cannot read "--wach"; the only option is --watch\n');
  });
});

// A copy of the checkout gets one more public signal, as a developer would add it: in the circuit, in circuits.json, and
// where its value comes from. All else is generated.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";

/** Not copied: what no step reads, and the root's node_modules. */
const LEFT_OUT =
  /^(\.git|\.turbo|\.dev|\.fuzz|node_modules|docs\/site\/build|circuits\/build\/(test|certify)|.*\/(\.test|\.turbo|build\/client))$/;

const SIGNAL = `,
        {
          "name": "memo",
          "size": 1,
          "description": "a word of the payer, bound, not computed in the circuit",
          "free": true
        }`;

describe("one more public signal of the payment", function () {
  slow(this, "a circuit, keys and contracts are built");
  let copy: string;
  const edit = (path: string, from: string, to: string) => {
    const text = readFileSync(join(copy, path), "utf8");
    expect(text.split(from), `${path}: ${from}`).to.have.lengthOf(2);
    writeFileSync(join(copy, path), text.replace(from, to));
  };
  const run = (folder: string, program: string, ...args: string[]) => {
    // Otherwise the copy's tests would write into the report of this suite.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SOTTO_")));
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: join(copy, folder), env, encoding: "utf8" });
    expect(status, `${program} ${args.join(" ")}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout;
  };

  before(() => {
    copy = mkdtempSync(join(tmpdir(), "sotto-signal-"));
    for (const name of readdirSync(root)) {
      if (LEFT_OUT.test(name)) continue;
      const filter = (path: string) => !LEFT_OUT.test(relative(root, path));
      cpSync(join(root, name), join(copy, name), { recursive: true, verbatimSymlinks: true, filter });
    }
    const modules = join(root, "node_modules");
    mkdirSync(join(copy, "node_modules"));
    for (const name of readdirSync(modules)) {
      // circom includes it, and follows no links out of the copy.
      if (name === "circomlib")
        cpSync(realpathSync(join(modules, name)), join(copy, "node_modules", name), { recursive: true });
      else symlinkSync(join(modules, name), join(copy, "node_modules", name));
    }

    edit("circuits/payment.circom", "commitments, changeHint\n]", "commitments, changeHint, memo\n]");
    edit(
      "circuits/payment.circom",
      "    signal input changeHint;\n",
      "    signal input changeHint;\n    signal input memo;\n",
    );
    edit("circuits/payment.circom", "    Bound()(changeHint);\n", "    Bound()(changeHint);\n    Bound()(memo);\n");
    const table = readFileSync(join(copy, "circuits", "circuits.json"), "utf8");
    const last = table.indexOf("}", table.indexOf('"name": "changeHint"')) + 1;
    writeFileSync(join(copy, "circuits", "circuits.json"), table.slice(0, last) + SIGNAL + table.slice(last));
    // The tests below do not use this contract, and it takes the compiler as long as the pool, from which it inherits.
    rmSync(join(copy, "contracts/test/SmallRingPool.sol"));
    run(".", process.execPath, "scripts/loop/test/support/build-copy.ts");
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  it("makes the compiler name the places that need its value, and no others", () => {
    // The first writes the declarations that the others read, although it fails.
    const projects = ["packages/protocol", "packages/wallet"].map((folder) => `${folder}/tsconfig.build.json`);
    projects.push("tsconfig.json");
    const printed = projects.map(
      (project) => spawnSync("tsc", ["-p", project, "--singleThreaded"], { cwd: copy, encoding: "utf8" }).stdout,
    );
    const places = printed.flatMap((text) => text.split("\n")).filter((line) => line.includes("error TS"));
    expect(places.map((line) => line.split("(")[0])).to.have.members([
      "packages/protocol/src/prepare/payment.ts",
      "packages/wallet/src/receipts/totals/check.ts",
      "packages/wallet/src/wallet/receipt.ts",
    ]);
    for (const text of printed.slice(0, 2)) expect(text).to.contain("'memo' is missing");
  });

  it("needs no other change: verifier, pool, batches and range checks work with it", () => {
    const { scripts } = JSON.parse(readFileSync(join(copy, "packages/protocol/package.json"), "utf8"));
    edit(
      "packages/protocol/src/prepare/payment.ts",
      "    changeHint: hintOf(",
      "    memo: 0n,\n    changeHint: hintOf(",
    );
    run("packages/protocol", "sh", "-c", scripts.build);
    const tests = ["verifiers", "settle", "batch"].map((name) => `${name}.test.ts`);
    const output = run("test/contracts", "hardhat", "test", "mocha", "--no-compile", ...tests);
    expect(output).to.match(/\d{2,} passing/);
    const abi = readFileSync(join(copy, "packages/protocol/src/generated/shielded-pool-abi.ts"), "utf8");
    expect(abi).to.contain('"signals","type":"uint256[11]"').and.not.to.contain('"signals","type":"uint256[10]"');
  });
});

// Users of Node 20, which reached its end of life in April 2026, see one line with instructions instead of the stack
// trace of a missing module.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { buildToy } from "@sotto/test-kit/toy";
import { expect } from "chai";
import { NODE_20 } from "./support/nodes.ts";
import { dependenciesOn, entriesOf, packages, registry } from "./support/packages.ts";
import { Project } from "./support/project.ts";

const SENTENCE = `this is Node ${NODE_20}, but Node 22.13 or newer is needed; install one, or .*npm run.*`;

/** The packages that also run with Node 20, because they need nothing of the rest of the project, and from which version on. */
const RUN_ON_20 = new Map([
  ["@sotto/certify", ">=20"],
  // The first with `process.getBuiltinModule`.
  ["@sotto/groth16", ">=20.16"],
]);

describe(`with Node ${NODE_20}`, function () {
  slow(this, "packages are installed");
  let project: Project;
  before(async () => {
    project = await Project.install("pnpm", NODE_20, await registry(), await dependenciesOn(await packages()));
  });
  after(() => project.remove());

  it("every program prints one line with instructions", async () => {
    const programs = (await packages()).flatMap(({ name, manifest }) =>
      RUN_ON_20.has(name) ? [] : Object.values(manifest.bin ?? {}).map((path) => join("node_modules", name, path)),
    );
    expect(programs).to.have.length.greaterThan(1);
    for (const path of programs) {
      const { status, stdout, stderr } = await project.node(path, "--help");
      expect(stderr).to.match(new RegExp(`^sotto(?:-mcp)?: NODE_TOO_OLD: ${SENTENCE}\n$`));
      expect([status, stdout]).to.deep.equal([1, ""]);
    }
  });

  it("programs can import every package, so that they can print their own message", async () => {
    const entries = entriesOf((await packages()).filter(({ manifest }) => manifest.peerDependencies === undefined));
    const imports = entries.map((entry) => `import "${entry}";\n`);
    project.write("imports.mjs", `${imports.join("")}console.log("first line");\n`);
    const { stdout, stderr } = await project.node("imports.mjs");
    expect([stdout, stderr]).to.deep.equal(["first line\n", ""]);
  });

  for (const [entry, open] of [
    ["@sotto/wallet/node", "openWallet({})"],
    ["@sotto/wallet/sqlite", 'new entry.SqliteStore(":memory:")'],
    ["@sotto/resource-server", "createPaywall({})"],
    ["@sotto/database", 'openDatabase({ url: "sqlite::memory:", migrations: {} })'],
  ] as const)
    it(`${entry} refuses to open`, async () => {
      const call = open.startsWith("new") ? open : `entry.${open}`;
      project.write(
        "open.mjs",
        `const entry = await import("${entry}");\n` +
          `try { await ${call}; } catch ({ code, message }) { console.log(code + ": " + message); }\n`,
      );
      const { stdout, stderr } = await project.node("open.mjs");
      expect(stdout, stderr).to.match(new RegExp(`^NODE_TOO_OLD: ${SENTENCE}\n$`));
    });

  it("the packages' engines fields name the supported versions", async () => {
    for (const { name, folder } of await packages()) {
      const { engines } = JSON.parse(
        readFileSync(join(import.meta.dirname, "..", "..", folder, "package.json"), "utf8"),
      );
      expect(engines).to.deep.equal({ node: RUN_ON_20.get(name) ?? ">=22.13" });
    }
  });

  it("certify checks a circuit", async () => {
    project.write(
      "free.circom",
      "pragma circom 2.0.0; template Free() { signal input a; signal output b; b <-- a; } component main = Free();",
    );
    const { status, stdout } = await project.node(
      join("node_modules", "@sotto/certify", "dist", "main.js"),
      "free.circom",
    );
    expect(stdout).to.match(/^free\.circom: refuted: main\.b has two values/);
    expect(status).to.equal(1);
  });

  it("groth16 makes a compact key, and proves with it", async () => {
    const toy = join(await buildToy(import.meta.dirname), "toy");
    const { stdout } = await project.node(
      ...[join("node_modules", "@sotto/groth16", "dist", "main.js"), "compact"],
      ...[join(toy, "toy.zkey"), "--out", "toy.czkey"],
    );
    expect(stdout).to.match(/^toy\.czkey: \d+ bytes, from \d+\n$/);
    project.write(
      "prove.mjs",
      `import { readFileSync } from "node:fs";
      import { groth16 } from "@sotto/groth16";
      const [, , wasm, vkey] = process.argv;
      const input = { product: 210, label: "42", factors: [["2", "3"], ["5", "7"]], secret: "0x7b" };
      const { proof, publicSignals } = await groth16.fullProve(input, wasm, "toy.czkey");
      console.log(await groth16.verify(JSON.parse(readFileSync(vkey, "utf8")), publicSignals, proof));
      console.log(await groth16.verify(JSON.parse(readFileSync(vkey, "utf8")), ["210", "43"], proof));`,
    );
    const proved = await project.node("prove.mjs", join(toy, "toy.wasm"), join(toy, "toy.vkey.json"));
    expect([proved.stdout, proved.stderr]).to.deep.equal(["true\nfalse\n", ""]);
  });
});

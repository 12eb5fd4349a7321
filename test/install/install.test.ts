// Installs the packages into an empty folder as users do, with each package manager and Node version, and runs a
// program.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { NODE_22, NODE_24 } from "../release/support/nodes.ts";
import { registryOf } from "../release/support/packages.ts";
import { type Manager, Project, tested } from "../release/support/project.ts";
import { chain } from "./support/chain.ts";

const PROGRAM = readFileSync(join(import.meta.dirname, "programs", "pay.ts"), "utf8");
const DEPENDENCIES = {
  "@sotto/client": "*",
  "@sotto/resource-server": "*",
  "@sotto/wallet": "*",
  ethers: tested("ethers"),
  typescript: tested("typescript"),
  "@types/node": tested("@types/node"),
};
const MANAGERS: readonly Manager[] = ["npm", "pnpm", "yarn", "yarn with Plug'n'Play"];
const NODES = [NODE_22, NODE_24];
/** The combinations of an ordinary run, which cover every package manager and every Node version. */
const ALWAYS: readonly (readonly [Manager, string])[] = [
  ["npm", NODE_24],
  ["pnpm", NODE_22],
  ["yarn", NODE_24],
];
const LONG = process.env["SOTTO_LONG"] === "1";
const CELLS = LONG ? MANAGERS.flatMap((manager) => NODES.map((node) => [manager, node] as const)) : ALWAYS;

const RESOLUTIONS = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

/** Node 22 prints a warning that its SQLite is experimental. */
const withoutNodesWarning = (text: string): string =>
  text.replace(/^\(node:\d+\) ExperimentalWarning: SQLite .*\n\(Use `node --trace-warnings .*\n/m, "");

describe("a user's project", function () {
  slow(this, "package managers install");
  /** The program is precompiled, because TypeScript's native compiler cannot run under Plug'n'Play. */
  let compiled: string;

  for (const [manager, node] of CELLS)
    describe(`with ${manager} and Node ${node}`, () => {
      let project: Project;
      before(async () => {
        project = await Project.install(manager, node, await registryOf(import.meta.dirname), DEPENDENCIES);
      });
      // Undefined if installing failed.
      after(() => project?.remove());

      if (manager !== "yarn with Plug'n'Play")
        for (const [name, options] of Object.entries(RESOLUTIONS).slice(0, LONG || manager === "npm" ? 2 : 1))
          it(`compiles strictly with ${name} resolution, declarations included`, async () => {
            project.write("pay.ts", PROGRAM);
            expect(await project.complaints(["pay.ts"], { ...options, noEmit: false })).to.equal("");
            compiled = readFileSync(join(project.folder, "pay.js"), "utf8");
          });

      it("creates a wallet, opens its store and charges for a page", async () => {
        const { url, deployment } = await chain();
        project.write("pay.js", compiled);
        const { stdout, stderr } = await project.node("pay.js", url, JSON.stringify(deployment));
        expect([stdout, withoutNodesWarning(stderr)]).to.deep.equal([
          "24 words, the wallet's address: true\nbalance 0\nstatus 402\nan empty wallet: INSUFFICIENT_FUNDS\n",
          "",
        ]);
      });

      // In Node 22.13, a required ES module cannot import packages that Plug'n'Play keeps.
      if (manager !== "yarn with Plug'n'Play" || node !== NODE_22)
        it("loads the packages with require", async () => {
          project.write(
            "common.cjs",
            'const { createSeedWords } = require("@sotto/wallet");\n' +
              'const { createPaywall } = require("@sotto/resource-server");\n' +
              "console.log(createSeedWords().split(' ').length, typeof createPaywall);\n",
          );
          const { stdout, stderr } = await project.node("common.cjs");
          expect([stdout, stderr]).to.deep.equal(["24 function\n", ""]);
        });

      it("rolls a store back after a conflict", async () => {
        project.write(
          "conflict.mjs",
          'import { SqliteStore } from "@sotto/wallet/sqlite";\n' +
            'const store = new SqliteStore(":memory:");\n' +
            'const put = (expected) => store.put("a", 1, expected).then(() => "stored", ({ code }) => code);\n' +
            "console.log(await put(7), await put(0));\n",
        );
        const { stdout, stderr } = await project.node("conflict.mjs");
        expect([stdout, withoutNodesWarning(stderr)]).to.deep.equal(["STORE_CONFLICT stored\n", ""]);
      });
    });
});

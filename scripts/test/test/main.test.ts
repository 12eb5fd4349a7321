import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { plan } from "../plan.ts";

const root = join(import.meta.dirname, "..", "..", "..");

describe("npm test", () => {
  it("refuses a suite it does not know, with a code and the names it knows", () => {
    const args = [join(root, "scripts", "test", "main.ts"), "nonsense"];
    const { status, stderr } = spawnSync("node", args, { encoding: "utf8", cwd: root });
    expect(status).to.equal(1);
    expect(stderr).to.match(
      /^sotto: UNKNOWN_SUITE: unknown suite "nonsense"; one of: checks, suites, contracts, .*\n$/,
    );
  });

  it("has a name of its own for everything it runs: the logs are named by it", () => {
    const names = plan(root, false).map(({ name }) => name.replaceAll(/[^a-z0-9-]+/gi, "-"));
    expect(new Set(names).size).to.equal(names.length);
  });

  it("runs every package of the workspace, and its types", () => {
    const names = plan(root, false).map(({ name }) => name);
    for (const name of ["protocol", "prover", "client"]) expect(names).to.include(name).and.include(`types of ${name}`);
  });

  it("runs every folder of tests", () => {
    const holdsTests = (folder: string) =>
      readdirSync(join(root, "test", folder), { recursive: true }).some((path) => String(path).endsWith(".test.ts"));
    const commands = plan(root, false).map(({ command }) => command.join(" "));
    for (const folder of readdirSync(join(root, "test")).filter((name) => name !== "contracts" && holdsTests(name)))
      expect(
        commands.some((command) => command.includes(`test/${folder}/`)),
        folder,
      ).to.equal(true);
  });

  it("takes away the timeouts for the long run alone", () => {
    const withTimeout = (long: boolean) =>
      plan(root, long).filter(({ kind, command }) => kind === "suite" && command.includes("3600000")).length;
    expect(withTimeout(false)).to.equal(0);
    expect(withTimeout(true)).to.be.greaterThan(4);
  });
});

// Everything `npm test` runs. Long suites come first, so that two of them side by side end at about the same time.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Work } from "./work.ts";

const LONG_TIMEOUT_MS = 3_600_000;

/** @param root the checkout; @param long whether this is `test:long`, whose sizes are larger */
export function plan(root: string, long: boolean): Work[] {
  const reporter = join(root, "scripts", "test", "reporter.cjs");
  const mochaOptions = ["--reporter", reporter, ...(long ? ["--timeout", String(LONG_TIMEOUT_MS)] : [])];
  const check = (name: string, ...command: string[]): Work => ({ name, kind: "check", command, cwd: root });
  const suite = (name: string, folder: string, ...command: string[]): Work => ({
    name,
    kind: "suite",
    command: [...command, ...mochaOptions],
    cwd: join(root, folder),
  });
  const mocha = (name: string, folder = name) => suite(name, ".", "mocha", `test/${folder}/**/*.test.ts`);
  // A workspace package runs its own test script, so that `pnpm test` in its folder is the same run.
  const member = (name: string, folder: string) => suite(name, folder, "pnpm", "run", "test");
  const packages = readdirSync(join(root, "packages")).filter((name) =>
    existsSync(join(root, "packages", name, "package.json")),
  );
  const sources = ["packages", "circuits", "scripts", "test", "examples", "ignition", "hardhat.config.ts"];
  return [
    // Hardhat takes no reporter on its command line: hardhat.config.ts reads SOTTO_TEST_EVENTS.
    { name: "contracts", kind: "suite", command: ["hardhat", "test", "mocha", "--no-compile"], cwd: root },
    member("circuits", "circuits"),
    ...packages.map((name) => member(name, join("packages", name))),
    // snarkjs's threads may outlive a test that needs them: the run does not wait for them.
    suite("scripts", ".", "mocha", "scripts/**/test/**/*.test.ts", "--exit"),
    mocha("relayer"),
    mocha("test/verifier-service", "verifier-service"),
    mocha("test/phone-registry", "phone-registry"),
    mocha("stock x402", "x402"),
    mocha("test/client", "client"),
    mocha("browser"),
    mocha("test/resource-server", "resource-server"),
    mocha("command line", "cli"),
    mocha("networks"),
    mocha("end to end", "e2e"),
    mocha("published packages", "packages"),
    check("lint and format", "biome", "check", "--error-on-warnings"),
    check("Solidity format", "prettier", "--check", "contracts/**/*.sol"),
    check("Solidity lint", "solhint", "--max-warnings", "0", "contracts/**/*.sol"),
    check("types of the checkout", "tsc", "-p", "tsconfig.json"),
    ...packages.map((name) => check(`types of ${name}`, "tsc", "-p", join("packages", name, "tsconfig.json"))),
    check("dependency direction", "depcruise", ...sources),
    check("generated files and pinned artifacts", "node", "scripts/generate/all.ts", "--check"),
    check("documented errors", "node", "scripts/generate/errors.ts", "--check"),
    check("licences", "node", "scripts/checks/licences.ts"),
    check("tidiness", "node", "scripts/checks/tidiness.ts"),
    check("vocabulary", "node", "scripts/checks/vocabulary.ts"),
  ];
}

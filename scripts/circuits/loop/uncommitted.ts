import { spawnSync } from "node:child_process";
import { root } from "../paths.ts";

/** The circuits and all that is made of them and committed. */
const PATHS = [
  "circuits",
  "contracts/libraries/CircuitConstants.sol",
  "contracts/verifiers",
  "docs/mutation.md",
  "packages/protocol/src/generated",
  "packages/prover/src/generated",
];

/** What of this differs from the last commit; nothing where there is no git. */
export function uncommitted(): string[] {
  const { stdout } = spawnSync("git", ["status", "--porcelain", "--", ...PATHS], { cwd: root, encoding: "utf8" });
  return (stdout ?? "").split("\n").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

import { spawnSync } from "node:child_process";
import { root } from "../circuits/paths.ts";

/** The circuits and all committed files that are generated from them. */
const PATHS = [
  "circuits",
  "contracts/libraries/CircuitConstants.sol",
  "contracts/libraries/PaymentSignals.sol",
  "contracts/verifiers",
  "docs/mutation.md",
  "packages/protocol/src/generated",
  "packages/prover/src/generated",
  "test/fuzz/generated",
];

/** The paths above that differ from the last commit; empty without git. */
export function uncommitted(): string[] {
  const { stdout } = spawnSync("git", ["status", "--porcelain", "--", ...PATHS], { cwd: root, encoding: "utf8" });
  return (stdout ?? "").split("\n").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

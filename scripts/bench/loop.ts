import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { uncommitted } from "../circuits/loop/uncommitted.ts";
import { circuitsDirectory, root } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";
import type { Print } from "./main.ts";

export const about = "from a saved change of the payment circuit to new keys, verifiers, types and its tests passed";

const CIRCUIT = join(circuitsDirectory, "payment.circom");
/** A constraint more, inside of a group: a change of the r1cs that every test accepts. */
const FIND = "    Bound()(changeHint);\n";
/** With a word that no run before had, so that nothing compiled for the tests is found again. */
const REPLACE = `${FIND}    Bound()(changeHint); // ${Date.now()}\n`;

const turn = (): void => {
  const { status } = spawnSync("node", ["scripts/circuits/loop/main.ts"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new CommandError("LOOP_FAILED", "pnpm circuits:build failed: see above");
};

/** Everything that a turn writes is committed: afterwards it is as it was. */
function expectUnchanged(): void {
  const changed = uncommitted();
  if (changed.length > 0)
    throw new CommandError("TREE_CHANGED", `the bench changes these files; commit them first: ${changed.join(", ")}`);
}

export function run(print: Print): void {
  expectUnchanged();
  turn();
  const before = readFileSync(CIRCUIT, "utf8");
  if (before.split(FIND).length !== 2)
    throw new CommandError("LOOP_FAILED", `${CIRCUIT} has another form: adapt the bench`);
  try {
    writeFileSync(CIRCUIT, before.replace(FIND, REPLACE));
    const start = performance.now();
    turn();
    print("loop.seconds", (performance.now() - start) / 1000, "s");
  } finally {
    writeFileSync(CIRCUIT, before);
    turn();
    expectUnchanged();
  }
}

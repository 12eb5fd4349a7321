import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { median } from "@sotto/command/median";
import { circuitsFolder, root } from "@sotto/keys/circuits/paths";
import { uncommitted } from "@sotto/keys/generate/uncommitted";
import type { Print } from "./main.ts";

export const about = "from a saved change of the payment circuit to new keys, verifiers, types and its tests passed";

const TURNS = 3;
const CIRCUIT = join(circuitsFolder, "payment.circom");
/** Its proofs are random, so a turn after the change is reverted would write others. */
const RECORDING = join(root, "test", "fuzz", "generated", "recording.json");
/** A redundant constraint: it changes the r1cs, and all tests still pass. The root is not free, so it may occur again. */
const FIND = "    root === spentRoot;\n";
/** The constraint contains the time, so that no cached compilation matches, not even in a cache that ignores comments. */
const change = (source: string) => source.replace(FIND, `${FIND}    Bound()(root + ${Date.now()});\n`);

const turn = (): void => {
  const { status } = spawnSync("node", ["scripts/loop/main.ts"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new CommandError("LOOP_FAILED", "pnpm circuits:build failed: see above");
};

/** Restores the files that a turn of the loop writes; all of them are committed. */
function assertUnchanged(): void {
  const changed = uncommitted();
  if (changed.length > 0)
    throw new CommandError(
      "TREE_CHANGED",
      `the bench overwrites these files; commit them first: ${changed.join(", ")}`,
    );
}

export function run(print: Print): void {
  assertUnchanged();
  turn();
  const before = readFileSync(CIRCUIT, "utf8");
  const recording = readFileSync(RECORDING, "utf8");
  if (before.split(FIND).length !== 2)
    throw new CommandError(
      "LOOP_FAILED",
      `${CIRCUIT} no longer contains the line that the bench changes; adapt the bench`,
    );
  try {
    const times: number[] = [];
    while (times.length < TURNS) {
      writeFileSync(CIRCUIT, change(before));
      const start = performance.now();
      turn();
      times.push((performance.now() - start) / 1000);
    }
    print("loop.seconds", median(times), "s");
  } finally {
    writeFileSync(CIRCUIT, before);
    writeFileSync(RECORDING, recording);
    turn();
    assertUnchanged();
  }
}

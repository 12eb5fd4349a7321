import { CertifyError } from "./errors.ts";
import type { System } from "./r1cs.ts";

/**
 * Checks that a .sym file belongs to an r1cs file: each wire has a name under its label.
 * @throws CertifyError INPUT_INVALID
 */
export function assertSym(sym: string, { labels }: System): void {
  const wires = new Map<number, number>();
  for (const [index, line] of sym.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, label, wire] = /^(\d{1,10}),(-?\d{1,10}),-?\d{1,10},\S+$/.exec(line.trim()) ?? [];
    if (label === undefined || wires.has(Number(label)))
      throw new CertifyError(`line ${index + 1} of the .sym file is not a signal: compile it again`, "INPUT_INVALID");
    wires.set(Number(label), Number(wire));
  }
  const missing = labels.findIndex((label, wire) => wire > 0 && wires.get(label) !== wire);
  if (missing >= 0)
    throw new CertifyError(`the .sym file is not that of the r1cs file: it lacks wire ${missing}`, "INPUT_INVALID");
}

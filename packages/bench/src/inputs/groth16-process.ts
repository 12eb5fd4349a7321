// A process of `pnpm bench groth16`: makes one proof and prints the time and the largest memory of the process, as JSON.
// Arguments: `sotto` or `snarkjs`, and the files of a random system: its proving key, its witness as a .wtns file.
import { existsSync, readFileSync } from "node:fs";

/** What the first proof of a process takes. */
export interface FirstProof {
  /** Milliseconds from the start of the process. */
  readonly wall: number;
  /** The most memory that the process had at any time, bytes. */
  readonly peak: number;
}

/** resourceUsage().maxRSS is no less than what the parent had when it started this process, so Linux's own count is read. */
function peak(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}

const [engine = "", zkey = "", wtns = ""] = process.argv.slice(2);
const { groth16 } = engine === "snarkjs" ? await import("snarkjs") : await import("@sotto/groth16");
await groth16.prove(zkey, wtns);
const first: FirstProof = { wall: performance.now(), peak: peak() };
process.stdout.write(JSON.stringify(first), () => process.exit(0));

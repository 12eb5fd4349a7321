import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { circuitNames, root } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";
import type { Print } from "./main.ts";

export const about = "the certificates of all circuits: seconds and memory of one process";

export function run(print: Print): void {
  // A process of its own, so that its memory is that of the certificates.
  const script = `
    import { certifyCircuit, problemLines } from ${JSON.stringify(join(root, "scripts/certify/certify.ts"))};
    for (const name of ${JSON.stringify(circuitNames)}) {
      const start = performance.now();
      const problems = problemLines(await certifyCircuit(name));
      if (problems.length > 0) throw new Error(problems.join("\\n"));
      console.log(name, (performance.now() - start) / 1000);
    }
    console.log("cpu", process.resourceUsage().userCPUTime / 1e6);
    console.log("memory", process.resourceUsage().maxRSS * 1024);
  `;
  const start = performance.now();
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new CommandError("UNDERCONSTRAINED", "a circuit is not certified: run npm run certify");
  print("certify.seconds", (performance.now() - start) / 1000, "s");
  for (const line of stdout.trim().split("\n")) {
    const [name = "", value] = line.split(" ");
    if (name === "memory") print("certify.memory", Number(value) / 1e6, "MB");
    else if (name === "cpu") print("certify.cpu", Number(value), "s");
    else print(`certify.${name}.seconds`, Number(value), "s");
  }
}

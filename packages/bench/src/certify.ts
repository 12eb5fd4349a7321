import { spawnSync } from "node:child_process";
import { CommandError } from "@sotto/command/command";
import { circuitNames, root } from "@sotto/keys/circuits/paths";
import type { Print } from "./main.ts";

export const about =
  "the certificates of all circuits: seconds and memory of the first checker, and with the second one";

const names = JSON.stringify(circuitNames);

/** Runs statements in a process of its own, so that its memory is that of the certificates. Returns what they log. */
function runScript(statements: string): { seconds: number; figures: [name: string, value: number][] } {
  const script = `
    import { problemLines, proveFiles } from ${JSON.stringify(import.meta.resolve("@sotto/certify/certify"))};
    import { certifyCircuit, circuitFiles, committedResults } from ${JSON.stringify(import.meta.resolve("@sotto/keys/certify/circuits"))};
    const check = (result) => {
      const problems = problemLines(result);
      if (problems.length > 0) throw new Error(problems.join("\\n"));
    };
    ${statements}
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
  const figures = stdout
    .trim()
    .split("\n")
    .map((line): [string, number] => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]);
  return { seconds: (performance.now() - start) / 1000, figures };
}

export function run(print: Print): void {
  const first = runScript(
    `for (const name of ${names}) {
      const start = performance.now();
      check(proveFiles(await circuitFiles(name), committedResults(name)));
      console.log(name, (performance.now() - start) / 1000);
    }`,
  );
  print("certify.seconds", first.seconds, "s");
  for (const [name, value] of first.figures) {
    if (name === "memory") print("certify.memory", value / 1e6, "MB");
    else if (name === "cpu") print("certify.cpu", value, "s");
    else print(`certify.${name}.seconds`, value, "s");
  }
  const both = runScript(`for (const name of ${names}) check(await certifyCircuit(name));`);
  print("certify.both.seconds", both.seconds, "s");
  for (const [name, value] of both.figures)
    print(`certify.both.${name}`, name === "memory" ? value / 1e6 : value, name === "memory" ? "MB" : "s");
}

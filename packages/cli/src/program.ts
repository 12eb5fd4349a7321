// The program `sotto`, once Node is known to be new enough for it (main.ts).
import { run } from "./run.ts";

const controller = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    controller.abort();
    // Again: now, at once. What is under way is journalled.
    process.once(signal, () => process.exit(130));
  });
// `sotto .. | head`: who reads no more has what it wants.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const { stdin, stdout, stderr } = process;
const streams = { stdin, stdout, stderr, terminal: stderr.isTTY === true };
const code = await run(process.argv.slice(2), { streams, environment: process.env, signal: controller.signal });
// Not process.exit at once: what was written to a pipe has to get there.
process.exitCode = code;
await new Promise<void>((resolve) => stdout.write("", () => resolve()));
process.exit(code);

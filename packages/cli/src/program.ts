// The program `sotto`. main.ts imports it after checking Node's version.
import { readFileSync } from "node:fs";
import { run } from "@sotto/cli-kit";
import { SETS } from "./sets.ts";

/** How long an interrupted command may take to end, ms. */
const ENDING_MS = 5_000;

const controller = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    controller.abort();
    // The process may end at any time, because the journal has everything needed to resume. A second signal ends it now.
    setTimeout(() => process.exit(130), ENDING_MS).unref();
    process.once(signal, () => process.exit(130));
  });
// In `sotto .. | head`, the reader closes the pipe early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const { stdin, stdout, stderr } = process;
const streams = { stdin, stdout, stderr, terminal: stderr.isTTY === true };
const { signal } = controller;
// The path is the same from src and from dist.
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const code = await run(process.argv.slice(2), { streams, environment: process.env, signal, version, sets: SETS });
// Flushes standard output, which may be a pipe, before the process exits.
process.exitCode = code;
await new Promise<void>((resolve) => stdout.write("", () => resolve()));
process.exit(code);

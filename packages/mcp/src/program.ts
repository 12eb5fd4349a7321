import { quoted, SottoError } from "@sotto/protocol";
import { run } from "./run.ts";

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());

try {
  await run(process.argv.slice(2), { environment: process.env, signal: stopping.signal });
  process.exit(0);
} catch (error) {
  const coded = error instanceof SottoError;
  const text = error instanceof Error ? quoted(error.message, 600) : "a value that is not an Error was thrown";
  process.stderr.write(`sotto-mcp: ${coded ? error.code : "UNEXPECTED"}: ${text}\n`);
  process.exit(1);
}

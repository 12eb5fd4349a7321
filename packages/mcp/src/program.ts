import { quoted, SottoError } from "@sotto/protocol";
import { run } from "./run.ts";

const stopping = new AbortController();
/** How long ending may take, ms. Everything that matters is in the wallet's journal. */
const ENDING_MS = 5_000;

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    setTimeout(() => process.exit(0), ENDING_MS).unref();
    stopping.abort();
  });

try {
  await run(process.argv.slice(2), { environment: process.env, signal: stopping.signal });
  process.exit(0);
} catch (error) {
  const coded = error instanceof SottoError;
  const text = error instanceof Error ? quoted(error.message, 600) : "a value that is not an Error was thrown";
  process.stderr.write(`sotto-mcp: ${coded ? error.code : "UNEXPECTED"}: ${text}\n`);
  process.exit(1);
}

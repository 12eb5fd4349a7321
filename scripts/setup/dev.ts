// node scripts/setup/dev.ts [NAME ...]: development keys for the compiled circuits. What did not change is not made again.
import { runMain } from "../circuits/build-error.ts";
import { parseCircuitNames } from "../circuits/paths.ts";
import { ensureKeys, KeyMaker } from "./development-keys.ts";
import { writeManifest } from "./manifest.ts";

async function main(): Promise<void> {
  const names = parseCircuitNames(process.argv.slice(2));
  let running: Promise<KeyMaker> | undefined;
  const maker = () => {
    running ??= KeyMaker.start();
    return running;
  };
  try {
    for (const name of names) {
      const start = performance.now();
      const made = await ensureKeys(name, maker);
      console.error(`setup: ${name}: ${made ? `${((performance.now() - start) / 1000).toFixed(1)} s` : "unchanged"}`);
    }
  } finally {
    await (await running)?.stop();
  }
  writeManifest();
}

await runMain(main);

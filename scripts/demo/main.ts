// `npm run demo [-- --port N --artifacts FOLDER]`: an agent pays for requests, shops charge for them, somebody watches; on
// a local chain, with real proofs and real transactions. Ends by checking every balance; exit code 1 on any difference.
import { join } from "node:path";
import { CommandError, parseOptions, parsePort, runCommand } from "../lib/command.ts";
import { printBalances, readBalances } from "./balances.ts";
import { Cleanup } from "./cleanup.ts";
import { playStep } from "./step.ts";
import { story } from "./story.ts";
import { paint, screenOf } from "./terminal.ts";
import { createWorld } from "./world.ts";

const BUILT = join(import.meta.dirname, "..", "..", "circuits", "build");
const cleanup = new Cleanup();
let stopped = false;
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => {
    stopped = true;
    void cleanup.run().finally(() => process.exit(code));
  });

async function demo(): Promise<void> {
  const { port = "0", artifacts = BUILT } = parseOptions(process.argv.slice(2), ["port", "artifacts"]);
  const places = { port: port === "0" ? 0 : parsePort(port), artifacts };
  const screen = screenOf(process.stdout);
  const start = performance.now();
  screen.write(
    "An agent, a merchant and its four shops, somebody who watches: real proofs on a chain of this machine.\n\n",
  );
  const world = await createWorld(screen, places, cleanup);
  for (const [index, step] of story.entries()) await playStep(world, index + 1, step);

  screen.write(`\n${paint(screen, "bold", "Balances")}\n`);
  const different = printBalances(screen, await readBalances(world));
  if (different.length > 0)
    throw new CommandError("BALANCES_DIFFER", `not as they must be: ${different.map(({ what }) => what).join("; ")}`);
  const { transactions } = world;
  const gas = transactions.receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const cost = `${transactions.receipts.length} transactions, ${gas.toLocaleString("en")} gas`;
  screen.write(`\n${paint(screen, "green", `All ${cost}: every balance is exact.`)} ${seconds} s\n`);
  screen.write(
    paint(screen, "dim", "Charge like these shops: docs/resource-server.md. Pay like this agent: docs/client.md.\n"),
  );
}

await runCommand(async () => {
  try {
    await demo();
  } catch (error) {
    // What fails because everything ends is no news.
    if (stopped) return;
    throw error;
  } finally {
    await cleanup.run();
  }
});

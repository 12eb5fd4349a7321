// `npm run demo [-- --port N --artifacts FOLDER]`: plays the story on a local chain, with real proofs and transactions. It
// ends by checking every balance; the exit code is 1 if one differs.
import { CommandError, parseOptions, parsePort, runCommand } from "@sotto/command/command";
import { paint, screenOf } from "@sotto/command/terminal";
import { buildFolder } from "@sotto/keys/circuits/paths";
import { printBalances, readBalances } from "./balances.ts";
import { Cleanup } from "./processes.ts";
import { playStep } from "./step.ts";
import { story } from "./story.ts";
import { createWorld } from "./world.ts";

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
  const { port = "0", artifacts = buildFolder } = parseOptions(process.argv.slice(2), ["port", "artifacts"]);
  const options = { port: port === "0" ? 0 : parsePort(port), artifacts };
  const screen = screenOf(process.stdout);
  const start = performance.now();
  screen.write("A payer, a merchant with four resource servers, and an observer of the chain,\n");
  screen.write("with real proofs on a local chain.\n\n");
  const world = await createWorld(screen, options, cleanup);
  for (const [index, step] of story.entries()) await playStep(world, index + 1, step);

  screen.write(`\n${paint(screen, "bold", "Balances")}\n`);
  const different = printBalances(screen, await readBalances(world));
  if (different.length > 0)
    throw new CommandError("BALANCES_DIFFER", `wrong balances: ${different.map(({ what }) => what).join("; ")}`);
  const { receipts } = world.transactions;
  const gas = receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const cost = `${receipts.length} transactions, ${gas.toLocaleString("en")} gas`;
  screen.write(`\n${paint(screen, "green", `All ${cost}: every balance is exact.`)} ${seconds} s\n`);
  screen.write(paint(screen, "dim", "Charge for requests: docs/resource-server.md. Pay for them: docs/client.md.\n"));
}

await runCommand(async () => {
  try {
    await demo();
  } catch (error) {
    // After a signal, actions fail only because their processes have ended.
    if (stopped) return;
    throw error;
  } finally {
    await cleanup.run();
  }
});

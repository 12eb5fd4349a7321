// `npm run rehearsal [-- --fresh yes]`: a ceremony, a deployment, and payments in production mode, on this machine and
// without a network.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandError, parseOptions, runCommand } from "@sotto/command/command";
import { exclusively } from "@sotto/command/exclusive";
import { Lifetime } from "@sotto/command/lifetime";
import { clock } from "@sotto/command/progress";
import { paint, progress, type Screen, say, screenOf } from "@sotto/command/terminal";
import { root } from "@sotto/keys/circuits/paths";
import { holdCeremony, SET } from "./ceremony.ts";
import { updateCopy } from "./copy.ts";
import { deploy, startChain } from "./deployment.ts";
import { payAndWithdraw } from "./payments.ts";
import { npmRun, Programs } from "./programs.ts";
import type { Rehearsal } from "./rehearsal.ts";

const FOLDER = join(root, ".sotto", "rehearsal");

const REHEARSED = [
  "a ceremony of three contributors and a beacon, and the check of its whole transcript",
  "a deployment with its keys on a chain that is not local, and the check of that deployment",
  "a service, a resource server and the command line, each in production mode, with keys and accounts of their own",
  "a deposit, a payment and a withdrawal, to the last unit",
  "the refusals of development keys, public accounts, and settings for development",
];
const NOT_REHEARSED = [
  "contributors who keep or lose a secret; the public phase 1 (npm run ceremony -- ptau), and a beacon that is announced",
  "a real chain: its fees, its reorganizations, its nodes (npm run check:deployment, with each of your nodes)",
  "the real token, and the publication of the contracts' sources",
  "https, certificates and proxies: on this machine, plain http is allowed",
  "PostgreSQL, several replicas, backups and alarms: docs/operations.md",
];

const title = (screen: Screen, text: string): void => screen.write(`\n${paint(screen, "bold", text)}\n`);

function list(screen: Screen, texts: readonly string[]): void {
  for (const text of texts) say(screen, `- ${text}`);
}

async function rehearse(rehearsal: Rehearsal, isFresh: boolean): Promise<void> {
  const { screen, folder, copy, programs } = rehearsal;
  const start = performance.now();
  screen.write("Rehearsal of production, on this machine, without a network.\n");
  title(screen, "1. Ceremony");
  say(screen, "Everything runs in a copy of this checkout, .sotto/rehearsal/checkout.");
  await progress(screen, "copying what git knows, and changes that are not committed", async () =>
    updateCopy(root, copy),
  );
  await programs.run(npmRun("build"));
  await holdCeremony(rehearsal, isFresh);
  await programs.run(npmRun("build"));

  title(screen, "2. Deployment");
  const run = join(folder, "run");
  rmSync(run, { recursive: true, force: true });
  mkdirSync(run, { mode: 0o700 });
  const chain = await startChain(rehearsal);
  const { manifest, path } = await deploy(rehearsal, chain);

  title(screen, "3. Service");
  await payAndWithdraw(rehearsal, { chain, manifest, path });

  title(screen, "Rehearsed");
  list(screen, REHEARSED);
  title(screen, "What no rehearsal on one machine can show");
  list(screen, NOT_REHEARSED);
  screen.write(
    `\n${paint(screen, "green", "Everything was as expected.")} Keys ${SET}, ${clock((performance.now() - start) / 1000)}\n`,
  );
  screen.write(paint(screen, "dim", "Next: docs/ceremony.md. To delete everything: rm -r .sotto/rehearsal\n"));
}

await runCommand(async () => {
  const { fresh } = parseOptions(process.argv.slice(2), ["fresh"]);
  if (fresh !== undefined && fresh !== "yes")
    throw new CommandError("OPTION_INVALID", `--fresh is ${fresh}; expected yes`);
  const screen = screenOf(process.stdout);
  const lifetime = new Lifetime();
  const copy = join(FOLDER, "checkout");
  const home = join(FOLDER, "home");
  for (const folder of [copy, home]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const programs = new Programs(screen, lifetime, copy, {
    // Hardhat would read this user's keystore.
    HOME: home,
    XDG_CONFIG_HOME: home,
    // The copy has the dependencies of the checkout.
    pnpm_config_verify_deps_before_run: "false",
    // Builds of the checkout are not repeated.
    TURBO_CACHE_DIR: join(root, ".turbo", "cache"),
  });
  const rehearsal = { screen, lifetime, folder: FOLDER, copy, programs };
  await exclusively(FOLDER, "npm run rehearsal", () => lifetime.run(() => rehearse(rehearsal, fresh === "yes")));
});

// The launcher behind every script of package.json. It runs on Node 20 or newer, installs the project's Node and pnpm into
// .toolchain/ and the locked dependencies into node_modules/, and then runs the task, so that every machine uses the
// same versions of these tools.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exclusively } from "../packages/command/src/exclusive.mjs";
import { ensureDependencies, ensureToolchain } from "./launcher/install.mjs";
import { LauncherError, run } from "./launcher/process.mjs";
import { tasks } from "./tasks.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

async function main([name, ...rest]) {
  if (Number.parseInt(process.versions.node, 10) < 20)
    throw new LauncherError("NODE_TOO_OLD", `Node 20 or newer is needed to start, this is ${process.version}`);
  const steps = Object.hasOwn(tasks, name ?? "") ? tasks[name] : undefined;
  if (!steps)
    throw new LauncherError("UNKNOWN_TASK", `unknown task "${name ?? ""}"; one of: ${Object.keys(tasks).join(", ")}`);
  const typed = `npm run ${name}`;
  const env = await ensureToolchain(root, typed);
  await ensureDependencies(root, env, typed);
  // Arguments after the task's name go to its last command.
  for (const [index, { command, args, variables, quiet, builds }] of steps.entries()) {
    const all = index === steps.length - 1 ? [...args, ...rest] : args;
    const start = () => run(command, all, { cwd: root, env: { ...env, ...variables }, quiet });
    const status = await (builds ? exclusively(root, typed, start) : start());
    if (status !== 0) return status;
  }
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof LauncherError)) throw error;
  console.error(`sotto: ${error.code}: ${error.message}`);
  process.exitCode = error.code === "INTERRUPTED" ? 130 : 1;
}

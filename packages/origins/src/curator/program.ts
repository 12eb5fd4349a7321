// Runs the curator until SIGINT or SIGTERM, or the command in its first argument. main.ts loads it after checking Node's version.
import {
  createLog,
  endWith,
  type ProgramCommand,
  runProgram,
  runProgramCommand,
  withSettingsFile,
} from "@sotto/server";
import { readCuratorConfig, withCuratorDefaults } from "./config/config.ts";
import { startCurator } from "./service.ts";
import { storeVerdict } from "./verdicts.ts";

const USAGE = `sotto-curator [command]
  serve        runs the curator (the default)
  accept LEAF  a person accepts the deposit at this leaf; the other judges are asked too
  refuse LEAF  a person refuses the deposit at this leaf, also if it was accepted before`;

const config = () => readCuratorConfig(withCuratorDefaults(withSettingsFile(process.env)));

const serve = () =>
  runProgram(async () => {
    const settings = config();
    const log = createLog(settings.logLevel);
    const { url, close, reload } = await startCurator(settings, log);
    const { chainId, pool, curator, name } = settings.set;
    const says = `sotto curator at ${url}: set ${name} of ${curator}, chain ${chainId}, pool ${pool}; press Ctrl-C to stop`;
    return { says, log, shutdownMs: settings.shutdownMs, close, reload: () => reload(config) };
  });

const judge = (verdict: "accept" | "refuse"): ProgramCommand => ({
  takes: 1,
  run: (leaf) =>
    endWith(async () => {
      await storeVerdict(config(), verdict, leaf!);
      console.log(JSON.stringify({ leaf: Number(leaf), verdict }));
    }),
});

await runProgramCommand(USAGE, { serve: { run: serve }, accept: judge("accept"), refuse: judge("refuse") });

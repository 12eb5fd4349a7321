// The curator as a child process of the demo.
import { readCuratorConfig, startCurator, withCuratorDefaults } from "@sotto/origins/curator";
import type { CuratedSet } from "./processes.ts";
import { logFor, runForParent } from "./serve-parent.ts";

await runForParent<CuratedSet>(async () => {
  const config = readCuratorConfig(withCuratorDefaults(process.env));
  const { url, close } = await startCurator(config, logFor(config.logLevel));
  const { curator, name } = config.set;
  return { started: { curator: url, key: curator, name }, close };
});

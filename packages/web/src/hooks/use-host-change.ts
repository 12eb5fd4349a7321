import { useEffect, useState } from "react";
import { type HostConfig, loadConfig } from "../config.ts";

/** Interval between requests to the host while the chain cannot be read, ms. */
const PAUSE_MS = 5_000;

const poolOf = ({ deployment: { chainId, pool, deploymentBlock }, nodes }: HostConfig): string =>
  JSON.stringify([chainId, pool, deploymentBlock, nodes]);

/**
 * Whether the host's configuration names another pool, chain or node than when the page was opened. The page asks the
 * host only if one of the parameters gives a reason.
 * @param restarted when the chain was restarted: a reason to ask once
 * @param failing whether the node's chain does not match: a reason to keep asking
 */
export function useHostChange(config: HostConfig, restarted: number | undefined, failing: boolean): boolean {
  const [changed, setChanged] = useState(false);
  useEffect(() => {
    if (restarted === undefined && !failing) return undefined;
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      // No response: the host's configuration counts as unchanged.
      const found = await loadConfig().catch(() => undefined);
      if (!current) return;
      const differs = found !== undefined && poolOf(found) !== poolOf(config);
      setChanged(differs);
      if (failing && !differs) timer = setTimeout(() => void ask(), PAUSE_MS);
    };
    void ask();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [config, restarted, failing]);
  return changed;
}

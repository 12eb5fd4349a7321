// A curator for `pnpm bench origins`.
import { readCuratorConfig, startCurator } from "@sotto/origins/curator";
import { createLog } from "@sotto/server";
import { LocalChain, SENDER } from "@sotto/test-chain/chain";
import { LocalPool } from "@sotto/test-chain/pool";
import { LocalToken } from "@sotto/test-chain/token";
import { serveOrder } from "./child-server.ts";

/** What the parent sends: the curator's settings. */
export type CuratorServerOrder = Readonly<Record<string, string>>;

await serveOrder<CuratorServerOrder>(async (settings) => {
  const token = new LocalToken(SENDER, 0n);
  // Its only block is the same in every process, so a restarted curator has nothing to read.
  const chain = new LocalChain([new LocalPool(token), token]);
  const { url } = await startCurator(readCuratorConfig(settings), createLog("silent"), { chain });
  return url;
});

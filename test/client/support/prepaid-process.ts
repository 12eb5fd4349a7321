// A client in a separate process that buys packs of prepaid tokens and spends them; the test kills it.
import { wrapFetch } from "@sotto/client";
import { buyPrepaid, listPrepaid, prepaid } from "@sotto/prepaid/client";
import { openWallet, type WorldPlace } from "@sotto/test-world/wallets";
import { SqliteStore } from "@sotto/wallet/sqlite";

export interface PrepaidTask {
  readonly world: WorldPlace;
  readonly seed: string;
  readonly store: string;
  readonly origin: string;
  /** Value of a token, base units. */
  readonly value: string;
  /** Limit of unspent value, base units. */
  readonly maxPerHost: string;
  /** Number of packs to own in the end. An unfinished one is finished first. */
  readonly packs: number;
  /** Paths that are paid with tokens. */
  readonly paths: readonly string[];
}

export interface PrepaidReport {
  /** Tokens of each pack before any was spent. */
  readonly left: number[];
  readonly answers: string[];
}

process.once("message", async (task: PrepaidTask) => {
  const { world, origin, packs, paths } = task;
  const value = BigInt(task.value);
  const wallet = await openWallet(world, {
    seed: Buffer.from(task.seed, "hex"),
    store: new SqliteStore(task.store),
  });
  const options = {
    services: [world.serviceUrl],
    maxPerRequest: value,
    methods: [prepaid({ maxPerHost: BigInt(task.maxPerHost), mirrors: [world.serviceUrl], buy: false })],
  };
  const ready = async () =>
    (await listPrepaid(wallet)).flatMap((listed) => listed.packs).filter(({ state }) => state === "ready");
  while ((await ready()).length < packs) await buyPrepaid(fetch, wallet, options, { origin, value });
  const left = (await ready()).map((pack) => pack.left);
  const pay = wrapFetch(fetch, wallet, options);
  const answers = await Promise.all(paths.map(async (path) => (await pay(origin + path)).text()));
  process.send?.({ left, answers } satisfies PrepaidReport, () => process.exit(0));
});
process.once("disconnect", () => process.exit(0));

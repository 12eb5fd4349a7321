// A client in a separate process. It makes the given purchases in order, and kills itself in the given state of the last
// one, so that no part of it keeps running.
import { openPurchases, type PurchaseStateName, wrapFetch } from "@sotto/client";
import { SottoError } from "@sotto/protocol";
import { openWallet, type WorldPlace } from "@sotto/test-world/wallets";
import type { Store, StoreChange, Wallet } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";

export interface ClientTask {
  readonly world: WorldPlace;
  readonly seed: string;
  readonly store: string;
  /** The resources to buy. Each is also the key of its purchase. */
  readonly urls: readonly string[];
  readonly maxPerRequest: string;
  /** The client dies when the last purchase has entered this state, before it writes or sends anything else. */
  readonly dieIn?: PurchaseStateName;
  /** Whether the client dies when the server has answered the proof of the last purchase. */
  readonly dieAnswered?: boolean;
  /** Whether the last purchase is aborted before it proves. */
  readonly abort?: boolean;
}

/** The body of a response, or the error's code. Reported before the next purchase begins. */
export type ClientAnswer = string;

const die = () => process.kill(process.pid, "SIGKILL");

/** The state in which these writes end a purchase. */
function endOf(changes: readonly StoreChange[]): PurchaseStateName | undefined {
  const keys = changes.map((change) => ("put" in change ? `put ${change.put}` : `delete ${change.delete}`));
  if (keys.some((key) => key.startsWith("put purchased/"))) return "finished";
  return keys.some((key) => key.startsWith("delete purchase/")) ? "abandoned" : undefined;
}

/** A store that calls `before` ahead of each write, and `ended` after a write that ends a purchase. */
function watched(disk: Store, before: () => Promise<void>, ended: (state: PurchaseStateName) => void): Store {
  return {
    get: (key) => disk.get(key),
    list: (prefix) => disk.list(prefix),
    batch: async (changes) => {
      await before();
      await disk.batch(changes);
      const end = endOf(changes);
      if (end !== undefined) ended(end);
    },
    put: async (key, value, expected) => {
      await before();
      return disk.put(key, value, expected);
    },
    delete: async (key, expected) => {
      await before();
      return disk.delete(key, expected);
    },
    close: () => disk.close(),
  };
}

process.once("message", async (task: ClientTask) => {
  const { world, urls, dieIn, dieAnswered, abort } = task;
  let wallet: Wallet | undefined;
  let url = "";
  const isLast = () => url === urls.at(-1);
  const enter = (state: PurchaseStateName | undefined) => void (isLast() && state === dieIn && state && die());
  const look = async () => {
    if (wallet === undefined || dieIn === undefined || !isLast()) return;
    enter((await openPurchases(wallet)).find(({ resourceUrl }) => resourceUrl === url)?.step);
  };
  const store = watched(new SqliteStore(task.store), look, enter);
  wallet = await openWallet(world, { seed: Buffer.from(task.seed, "hex"), store });
  const send: typeof fetch = async (input, init) => {
    await look();
    const response = await fetch(input, init);
    if (isLast() && dieAnswered && new Headers(init?.headers).has("x-payment-proof")) die();
    return response;
  };
  const report = (answer: ClientAnswer) => new Promise<void>((resolve) => process.send?.(answer, () => resolve()));
  for (url of urls) {
    const stop = new AbortController();
    const pay = wrapFetch(send, wallet, {
      services: [world.serviceUrl],
      maxPerRequest: BigInt(task.maxPerRequest),
      onProgress: ({ stage }) => void (isLast() && abort && stage === "proving" && stop.abort()),
    });
    try {
      await report(await (await pay(url, { signal: stop.signal, sotto: { key: url } })).text());
    } catch (error) {
      await look();
      await report(error instanceof SottoError ? error.code : String(error));
    }
  }
  process.exit(0);
});
process.once("disconnect", () => process.exit(0));

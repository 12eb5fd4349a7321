import { type Attend, type Context, usage } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { showOrigins } from "../client.ts";
import { parseSetName } from "../core/set.ts";
import { Origins, type OriginsOptions, type SetKey } from "../wallet.ts";

/** How long a payment waits for new heads, ms. */
const MAX_SYNC_MS = 10_000;

/** The two options that name a set. */
export const SET_OPTIONS = {
  key: { value: "ADDRESS", help: "the account with whose key the curator signs" },
  set: { value: "NAME", help: "the name of the set" },
} as const;

/** The set that the options name. @throws CliError USAGE */
export function setOf({ args }: Context): SetKey {
  args.required("key");
  const name = args.required("set");
  try {
    return { curator: args.address("key") as SetKey["curator"], name: parseSetName(name) };
  } catch (error) {
    if (error instanceof SottoError && error.code === "INVALID_ARGUMENT") throw usage(`--set: ${error.message}`);
    throw error;
  }
}

/** Runs an action with the origins of a wallet. */
export async function withOrigins<T>(wallet: Wallet, action: (origins: Origins) => Promise<T>): Promise<T> {
  const origins = await Origins.open(wallet);
  try {
    return await action(origins);
  } finally {
    origins.close();
  }
}

/**
 * Keeps the notes of a command apart, takes new heads, and shows origins to servers that ask, whose payments wait ten seconds at most
 * for these heads. It sends no claims: a claim of one payment at the time of the next one would tell that one wallet made both.
 */
export const createAttend =
  (options: OriginsOptions = {}): Attend =>
  async (wallet) => {
    const origins = await Origins.open(wallet, options);
    // The wallet's command reports what is wrong with the chain, and `origin status` what is wrong with a set.
    const syncing = origins.sets().length === 0 ? undefined : origins.sync({ claims: false }).catch(() => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_SYNC_MS);
      timer.unref();
    });
    const after = syncing && Promise.race([syncing, late]);
    return {
      attachments: [showOrigins({ origins, after })],
      async end() {
        clearTimeout(timer);
        origins.close();
        await syncing;
      },
    };
  };

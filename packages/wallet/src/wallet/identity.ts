import type { Deployment } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { Store } from "../store/store.ts";

/** Version of the records in a store. */
const SCHEMA = 1;

/**
 * The owner of a store. With another wallet's pages or journal, a wallet would show wrong balances or lose payments in
 * flight.
 */
export interface Identity extends Deployment {
  deploymentBlock: number;
  /** The shielded address, or another purpose of the store. */
  owner: string;
}

/**
 * Marks an empty store with its owner, or checks the owner of a store that is in use.
 * @throws WalletError STORE_FOREIGN
 */
export async function claimStore(store: Store, { chainId, pool, deploymentBlock, owner }: Identity): Promise<void> {
  const mark = { schema: SCHEMA, chainId: String(chainId), pool, deploymentBlock, owner };
  const found = await store.get("identity");
  if (found === undefined) {
    if ((await store.list("")).length > 0)
      throw new WalletError("STORE_FOREIGN", "the store holds records of another program, expected an empty one");
    return store.put("identity", mark, 0);
  }
  const value = Object(found.value) as Record<string, unknown>;
  const differing = Object.entries(mark).filter(([name, expected]) => value[name] !== expected);
  if (differing.length === 0) return;
  const [name, expected] = differing[0]!;
  throw new WalletError("STORE_FOREIGN", `the store has ${name} ${String(value[name])}, expected ${expected}`, {
    name,
  });
}

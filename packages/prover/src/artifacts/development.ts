/**
 * Development keys come from a public seed: anyone can forge proofs with them, so they are allowed on local chains only. The
 * same applies to every other set that is not from a ceremony, such as a rehearsal's.
 */
import { LOCAL_CHAIN_IDS } from "@sotto/protocol/base";
import { proverError } from "../errors.ts";

/** The name of the set whose keys are made from a public seed. */
export const DEVELOPMENT_SET = "development";
const CEREMONY = "ceremony/";

/**
 * Checks that a set of keys may be used on a chain. Call it before deploying, serving, paying or accepting.
 * @param set name of the set, or an object with that name (artifacts, a lock)
 * @param chainId EIP-155 chain id
 * @param isProduction whether such sets are refused on local chains too
 * @throws SottoError DEVELOPMENT_KEYS_REFUSED if the set is not allowed on this chain, CHAIN_ID_INVALID
 */
export function assertAllowedOnChain(
  set: string | { readonly set: string },
  chainId: bigint | number,
  isProduction = false,
): void {
  const valid = typeof chainId === "bigint" ? chainId > 0n : Number.isSafeInteger(chainId) && chainId > 0;
  if (!valid) throw proverError("CHAIN_ID_INVALID", "A chain id is a positive integer.", { found: String(chainId) });
  const name = typeof set === "string" ? set : set.set;
  if (name.startsWith(CEREMONY) || (!isProduction && LOCAL_CHAIN_IDS.includes(BigInt(chainId)))) return;
  const local = LOCAL_CHAIN_IDS.join(", ");
  throw proverError(
    "DEVELOPMENT_KEYS_REFUSED",
    `The keys of set ${JSON.stringify(name)} do not come from a ceremony, and anyone can forge proofs with development keys: ` +
      `refused on chain ${chainId}, allowed on ${local} only, and nowhere in production. Use the keys of a ceremony.`,
    { set: name, chainId: String(chainId), allowed: local },
  );
}

/**
 * Development keys come from a public seed: anyone can forge proofs with them, so they are allowed on local chains only. The
 * same applies to every other set that is not from a ceremony; a rehearsal's keys are also allowed on the chain for rehearsals.
 */
import { LOCAL_CHAIN_IDS, REHEARSAL_CHAIN_ID } from "@sotto/protocol/base";
import { proverError } from "../errors.ts";

/** The name of the set whose keys are made from a public seed. */
export const DEVELOPMENT_SET = "development";
const CEREMONY = "ceremony/";
const REHEARSAL = "rehearsal/";

/**
 * Checks that a set of keys may be used on a chain. Call it before deploying, serving, paying or accepting.
 * @param set name of the set, or an object with that name (artifacts, a lock)
 * @param chainId EIP-155 chain id
 * @param isProduction whether sets that are not from a ceremony are refused on local chains too
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
  const id = BigInt(chainId);
  if (name.startsWith(CEREMONY) || (!isProduction && LOCAL_CHAIN_IDS.includes(id))) return;
  if (name.startsWith(REHEARSAL) && id === REHEARSAL_CHAIN_ID) return;
  const local = LOCAL_CHAIN_IDS.join(", ");
  const rehearsal = name.startsWith(REHEARSAL) ? `, except on the chain ${REHEARSAL_CHAIN_ID} for rehearsals` : "";
  throw proverError(
    "DEVELOPMENT_KEYS_REFUSED",
    `The keys of set ${JSON.stringify(name)} do not come from a real ceremony, so anyone can forge proofs with them: ` +
      `refused on chain ${chainId}, allowed on ${local} only, and nowhere in production${rehearsal}. Use the keys of a ceremony.`,
    { set: name, chainId: String(chainId), allowed: local },
  );
}

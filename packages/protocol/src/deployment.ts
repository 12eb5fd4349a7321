import { addressToBigInt } from "./ethereum-address.ts";
import { assertObject, assertUint } from "./validate.ts";

/** The pool that a hash is bound to: a proof, context or blinding for one deployment is not valid for another. */
export interface Deployment {
  /** EIP-155 chain id. */
  readonly chainId: bigint;
  readonly pool: string;
}

/** The first two words of every context. @throws SottoError INVALID_INTEGER, INVALID_ADDRESS */
export function deploymentWords(deployment: Deployment): [chainId: bigint, pool: bigint] {
  assertObject(deployment, "the deployment");
  const { chainId, pool } = deployment;
  return [assertUint(chainId, 256, "chainId"), addressToBigInt(pool, "pool")];
}

import type { Signer } from "ethers";

/**
 * The part of an ethers v6 signer that authorizes a deposit. Its account needs no ETH. It can be a contract account or one with
 * a delegation (EIP-1271, EIP-7702) if the token accepts their signatures, as USDC and Permit2 do.
 */
export type DepositSigner = Pick<Signer, "getAddress" | "signTypedData">;

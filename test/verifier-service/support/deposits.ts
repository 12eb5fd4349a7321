import { signDeposit, type TypedDataSigner } from "@sotto/test-pool/authorization";
import type { World } from "@sotto/test-world/service";
import { type HDNodeWallet, hexlify, randomBytes, Signature } from "ethers";

export interface DepositFields {
  readonly ownerTags?: readonly bigint[];
  readonly amounts?: readonly bigint[];
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
}

/** The body of a deposit request with v, r and s of the account's EIP-3009 signature. */
export async function depositBody(world: World, account: HDNodeWallet, fields: DepositFields) {
  const from = account.address.toLowerCase();
  const { signature, ...body } = await signedBody(world, { from, depositor: account }, fields);
  const { v, r, s } = Signature.from(signature);
  return { ...body, v, r, s };
}

/** Like `depositBody`, with the signature as a whole, in the format of the account. Defaults: one note of 0.02 USDC, valid for 10 minutes. */
export async function signedBody(
  world: World,
  { from, depositor }: { readonly from: string; readonly depositor: TypedDataSigner },
  fields: DepositFields = {},
) {
  const { amounts = [20_000n], validAfter = 0n } = fields;
  const { ownerTags = amounts.map((_, index) => BigInt(index + 1)) } = fields;
  const { validBefore = BigInt(Math.floor(Date.now() / 1000) + 600) } = fields;
  const salt = hexlify(randomBytes(32));
  const deposit = { from, ownerTags, amounts, salt, validAfter, validBefore };
  const { signed } = await signDeposit(world, depositor, deposit);
  return {
    chainId: String(world.chainId),
    pool: world.pool,
    ...signed,
    ownerTags: ownerTags.map(String),
    amounts: amounts.map(String),
    validAfter: String(validAfter),
    validBefore: String(validBefore),
  };
}

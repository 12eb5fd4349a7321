import { depositAuthorizationNonce } from "@sotto/protocol";
import { type HDNodeWallet, hexlify, randomBytes, Signature } from "ethers";
import type { World } from "./world.ts";

export interface DepositFields {
  readonly ownerTags?: readonly bigint[];
  readonly amounts?: readonly bigint[];
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
}

const TYPES = {
  ReceiveWithAuthorization: [
    "from address",
    "to address",
    "value uint256",
    "validAfter uint256",
    "validBefore uint256",
    "nonce bytes32",
  ].map((field) => {
    const [name = "", type = ""] = field.split(" ");
    return { name, type };
  }),
};

/** The body of a deposit that `account` authorizes for exactly these notes. */
export async function signDeposit(world: World, account: HDNodeWallet, fields: DepositFields) {
  const { amounts = [20_000n], validAfter = 0n } = fields;
  const { ownerTags = amounts.map((_, index) => BigInt(index + 1)) } = fields;
  const { validBefore = BigInt(Math.floor(Date.now() / 1000) + 600) } = fields;
  const from = account.address.toLowerCase();
  const salt = hexlify(randomBytes(32));
  const value = amounts.reduce((sum, amount) => sum + amount, 0n);
  const nonce = depositAuthorizationNonce({ ownerTags, amounts }, salt);
  const domain = { name: "USD Coin", version: "2", chainId: world.chainId, verifyingContract: world.token };
  const message = { from, to: world.pool, value, validAfter, validBefore, nonce };
  const { v, r, s } = Signature.from(await account.signTypedData(domain, TYPES, message));
  return {
    chainId: String(world.chainId),
    pool: world.pool,
    from,
    ownerTags: ownerTags.map(String),
    amounts: amounts.map(String),
    salt,
    validAfter: String(validAfter),
    validBefore: String(validBefore),
    v,
    r,
    s,
  };
}

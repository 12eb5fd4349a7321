import { DEPOSIT_AUTHORIZATION_TYPES } from "@sotto/protocol";
import {
  type Authorization,
  domainOf,
  messageOf,
  type SponsoredDeposit,
  type TypedDataSigner,
} from "../authorization.ts";
import type { Deployed, Signer } from "./deploy.ts";

export const tokenDomain = async ({ chainId, token }: Deployed) => domainOf(chainId, await token.getAddress());

/** Signs an EIP-3009 message. */
export async function authorize(
  deployed: Deployed,
  signer: TypedDataSigner,
  message: Authorization,
  primaryType: "ReceiveWithAuthorization" | "TransferWithAuthorization" = "ReceiveWithAuthorization",
): Promise<string> {
  const domain = await tokenDomain(deployed);
  return signer.signTypedData(domain, { [primaryType]: DEPOSIT_AUTHORIZATION_TYPES.ReceiveWithAuthorization }, message);
}

export const depositMessage = ({ poolAddress }: Deployed, deposit: SponsoredDeposit): Authorization =>
  messageOf(poolAddress, deposit);

/** Sends a deposit with a signature, which may belong to another deposit. */
export function sendDeposit(deployed: Deployed, relayer: Signer, deposit: SponsoredDeposit, signature: string) {
  const { from, ownerTags, amounts, salt, validAfter, validBefore } = deposit;
  const pool = deployed.pool.connect(relayer);
  return pool.depositWithAuthorization(from, [...ownerTags], [...amounts], salt, validAfter, validBefore, signature);
}

import { Wallet } from "ethers";
import { type Address, bindingTypedData, deriveKeys, type ShieldedAddressBinding } from "../../src/index.ts";
import { DEPLOYMENT } from "./deployment.ts";

export const owner = new Wallet(`0x${"42".repeat(32)}`);

/** A binding of `owner`. */
export const binding: ShieldedAddressBinding = {
  phone: "+14155550100",
  wallet: owner.address.toLowerCase() as Address,
  key: deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT).shieldedAddress(),
  chainId: 31337n,
  pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  service: "https://phones.example/zk",
  issuedAt: 1_800_000_000,
};

export function sign(of: ShieldedAddressBinding, signer: Wallet = owner): Promise<string> {
  const { domain, types, message } = bindingTypedData(of);
  return signer.signTypedData(domain, types, message);
}

import type { RelayerOptions } from "@sotto/verifier-service";
import { RemoteSigner, SignerClient } from "@sotto/verifier-service";

/** Accounts of a remote signer. */
export function remoteAccounts(url: string, addresses: readonly string[]): RelayerOptions["accounts"] {
  const client = new SignerClient({ url, timeoutMs: 5_000 });
  return addresses.map((address) => ({ signer: new RemoteSigner(client, address) }));
}

import { Wallet } from "ethers";
import type { Config } from "./config/config.ts";
import type { RelayerAccount } from "./relayer/index.ts";
import { RemoteSigner, SignerClient, type TransactionSigner } from "./signer/index.ts";

/** The relayer's accounts: those of the configured keys, then those of the remote signer. */
export function setUpAccounts(config: Config, closeLater: (action: () => void) => void): RelayerAccount[] {
  const { relayerKeys, drainingAccounts, signerUrl, signerAccounts } = config;
  const signers: TransactionSigner[] = relayerKeys.map((key) => new Wallet(key));
  if (signerUrl !== undefined) {
    const client = openClient(signerUrl, config);
    closeLater(() => client.close());
    signers.push(...signerAccounts.map((address) => new RemoteSigner(client, address)));
  }
  const isDraining = (address: string) => drainingAccounts.some((draining) => draining === address.toLowerCase());
  return signers.map((signer) => ({ signer, isDraining: isDraining(signer.address) }));
}

function openClient(url: string, config: Config): SignerClient {
  const { signerTimeoutMs: timeoutMs, signerCa: ca, signerCertificate, signerCertificateKey } = config;
  return new SignerClient({ url, timeoutMs, ca, certificate: signerCertificate, certificateKey: signerCertificateKey });
}

import { createSecureContext } from "node:tls";
import { ServerError } from "@sotto/server";
import { Wallet } from "ethers";
import type { Config } from "./config/config.ts";
import type { RelayerAccount } from "./relayer/index.ts";
import { RemoteSigner, SignerClient, type TransactionSigner } from "./signer/index.ts";

/**
 * The relayer's accounts: those of the configured keys, then those of the remote signer.
 * @throws ServerError INVALID_CONFIG
 */
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
  const { signerTimeoutMs: timeoutMs, signerCa: ca, signerCertificate: cert, signerCertificateKey: key } = config;
  try {
    // Node otherwise finds out only when it connects that the key is not the certificate's.
    createSecureContext({ ca, cert, key });
  } catch (cause) {
    throw new ServerError(
      "INVALID_CONFIG",
      "SOTTO_SIGNER_CA_FILE, SOTTO_SIGNER_CERTIFICATE_FILE and SOTTO_SIGNER_KEY_FILE must be certificates and the second one's key, as PEM",
      { count: 1 },
      { cause },
    );
  }
  return new SignerClient({ url, timeoutMs, ca, certificate: cert, certificateKey: key });
}

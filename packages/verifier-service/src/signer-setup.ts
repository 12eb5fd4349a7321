import { createSecureContext } from "node:tls";
import { ServerError } from "@sotto/server";
import { Wallet } from "ethers";
import type { Config } from "./config/config.ts";
import { RemoteSigner, SignerClient, type TransactionSigner } from "./signer/index.ts";

/** Creates the signer of the relayer's account: the configured key, or a remote signer. */
export function setUpSigner(config: Config, closeLater: (action: () => void) => void): TransactionSigner {
  const { relayerKey, signerUrl: url, signerAccounts, signerTimeoutMs: timeoutMs } = config;
  if (relayerKey !== undefined) return new Wallet(relayerKey);
  const { signerCa: ca, signerCertificate: certificate, signerCertificateKey: certificateKey } = config;
  assertCertificates({ ca, cert: certificate, key: certificateKey });
  const client = new SignerClient({ url: url!, timeoutMs, ca, certificate, certificateKey });
  closeLater(() => client.close());
  return new RemoteSigner(client, signerAccounts[0]!);
}

/** @throws ServerError INVALID_CONFIG if Node cannot use them, for example if the key is not the certificate's */
function assertCertificates(files: Parameters<typeof createSecureContext>[0]): void {
  try {
    createSecureContext(files);
  } catch (cause) {
    throw new ServerError(
      "INVALID_CONFIG",
      "SOTTO_SIGNER_CA_FILE, SOTTO_SIGNER_CERTIFICATE_FILE and SOTTO_SIGNER_KEY_FILE must be certificates and the second one's key, as PEM",
      { count: 1 },
      { cause },
    );
  }
}

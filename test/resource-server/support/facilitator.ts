// A dishonest service: it accepts every payment, settles none, and signs any claims that a test asks for.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  paymentSignals,
  resourceHash,
  signalsDigest,
  TOKEN_TYPE,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";
import type { MerchantWorld } from "@sotto/test-world/paywall/world";

export interface LyingFacilitator {
  readonly url: string;
  /**
   * A token with the claims of an honest token for this payment, except for those in `claims`.
   *
   * @param kid the id of the key that the token names; the default is the key that signs it
   */
  token(bundle: WireBundle, claims?: Readonly<Record<string, unknown>>, kid?: string): string;
  close(): Promise<void>;
}

const KEY_ID = "liar";
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function signToken(key: KeyObject, header: object, payload: object): string {
  const text = `${base64(header)}.${base64(payload)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}

function claimsOf({ chainId, pool, merchant }: MerchantWorld, bundle: WireBundle): Record<string, unknown> {
  const signals = bundle.publicSignals.map(BigInt);
  const { encryptionKey, ownerTag } = merchant.shielded;
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: `urn:sotto:${chainId}:${pool}`,
    iat: now,
    exp: now + 120,
    jti: "invented",
    digest: signalsDigest(signals),
    chainId: String(chainId),
    pool,
    recipient: bundle.recipientPublicKey,
    recipientKey: String(encryptionKey.x),
    recipientTag: String(ownerTag),
    resourceHash: resourceHash(bundle.resourceUrl),
    senderCommitment: bundle.senderCommitment,
    nullifier: paymentSignals(bundle.publicSignals).nullifier,
    timestamp: bundle.timestamp,
    validUntil: Number(validUntilOf(bundle.timestamp)),
  };
}

export function startLyingFacilitator(world: MerchantWorld): Promise<LyingFacilitator> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const token = (bundle: WireBundle, claims: Readonly<Record<string, unknown>> = {}, kid = KEY_ID) =>
    signToken(privateKey, { alg: "EdDSA", kid, typ: TOKEN_TYPE }, { ...claimsOf(world, bundle), ...claims });
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "EdDSA", use: "sig" }];
  const server = createServer((request, response) => {
    const path = String(request.url).replace(/^\/zk/, "");
    const answer = (value: unknown) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (path === "/.well-known/jwks.json") answer({ keys });
    else if (request.method === "POST") answer({ valid: true, status: "success", success: true });
    // The keys of the circuits are genuine, because a paywall would not open with others.
    else void fetch(`${world.service}${path}`).then(async (key) => response.end(await key.text()));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}/zk`, token, close });
    });
  });
}

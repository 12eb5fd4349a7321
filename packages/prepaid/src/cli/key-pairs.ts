import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { CliError } from "@sotto/cli-kit";
import { generatePrepaidKey, PREPAID_EXPONENT, type PrepaidKey, prepaidKey } from "../index.ts";

/** Number of keys that are generated concurrently; Node's pool has four threads. */
const AT_ONCE = 4;
/** A message that is signed to check that the parts of a key fit together. */
const CHECKED = Buffer.from("sotto");

/**
 * Generates RSA keys: PKCS #8 as PEM.
 * @param onProgress receives the number of keys that exist
 * @throws the signal's reason
 */
export async function generatePrivateKeys(
  count: number,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const keys: string[] = [];
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      signal.throwIfAborted();
      keys.push((await generatePrepaidKey()).privateKey);
      onProgress(keys.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return keys;
}

/**
 * The public key of a private key.
 * @param where names the key in errors
 * @throws CliError KEY_MISSING, without any part of the key
 */
export function publicKeyOf(pem: string, where: string): PrepaidKey {
  const wrong = () => new CliError("KEY_MISSING", `${where} is not an RSA key of 2048 bits with the exponent 65537`);
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== "rsa" || key.asymmetricKeyDetails?.publicExponent !== BigInt(PREPAID_EXPONENT))
      throw wrong();
    const publicKey = createPublicKey(key);
    // OpenSSL accepts a damaged key whose numbers contradict each other.
    if (!verify("sha256", CHECKED, publicKey, sign("sha256", CHECKED, key))) throw wrong();
    const { n = "" } = publicKey.export({ format: "jwk" });
    return prepaidKey(BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`));
  } catch {
    // The cause could quote the key.
    throw wrong();
  }
}

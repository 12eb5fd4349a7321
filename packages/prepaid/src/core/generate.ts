import { modulusOfRsaKey, PREPAID_EXPONENT, PREPAID_KEY_BYTES, type PrepaidKey, prepaidKey } from "./key.ts";

/** The part of WebCrypto that is used: the platform's types differ between Node and browsers. */
interface Platform {
  readonly crypto: {
    readonly subtle: {
      generateKey(
        algorithm: object,
        extractable: boolean,
        uses: readonly string[],
      ): Promise<{ readonly privateKey: object; readonly publicKey: object }>;
      exportKey(format: "pkcs8" | "spki", key: object): Promise<ArrayBuffer>;
    };
  };
  btoa(bytes: string): string;
}

/**
 * WebCrypto exports the keys of this algorithm as rsaEncryption. Keys of the type RSASSA-PSS refuse the raw operations that
 * blind signatures need.
 */
const ALGORITHM = {
  name: "RSA-PSS",
  hash: "SHA-384",
  modulusLength: 8 * PREPAID_KEY_BYTES,
  publicExponent: Uint8Array.of(PREPAID_EXPONENT >> 16, (PREPAID_EXPONENT >> 8) & 255, PREPAID_EXPONENT & 255),
};
const LINE = /.{1,64}/g;

/** Generates a key pair of a merchant. The private key is PKCS #8 as PEM. */
export async function generatePrepaidKey(): Promise<{ readonly key: PrepaidKey; readonly privateKey: string }> {
  const { crypto, btoa } = globalThis as unknown as Platform;
  const { subtle } = crypto;
  const pair = await subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const spki = new Uint8Array(await subtle.exportKey("spki", pair.publicKey));
  const pkcs8 = new Uint8Array(await subtle.exportKey("pkcs8", pair.privateKey));
  const lines = btoa(Array.from(pkcs8, (byte) => String.fromCharCode(byte)).join("")).match(LINE)!;
  const privateKey = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
  return { key: prepaidKey(modulusOfRsaKey(spki)), privateKey };
}

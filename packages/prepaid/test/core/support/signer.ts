import { constants, generateKeyPairSync, type KeyObject, privateDecrypt } from "node:crypto";
import { PREPAID_KEY_BYTES, type PrepaidKey, prepaidKey } from "../../../src/index.ts";

/** A merchant's key pair for prepaid tokens. */
export interface Signer {
  readonly key: PrepaidKey;
  readonly publicKey: KeyObject;
  /** Raw RSA over each blinded message. */
  sign(request: Uint8Array): Uint8Array;
}

export function createSigner(modulusLength = 2048): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength });
  const { n = "" } = publicKey.export({ format: "jwk" });
  return {
    key: prepaidKey(BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`)),
    publicKey,
    sign: (request) => {
      const signatures: Buffer[] = [];
      for (let i = 0; i < request.length; i += PREPAID_KEY_BYTES)
        signatures.push(
          privateDecrypt(
            { key: privateKey, padding: constants.RSA_NO_PADDING },
            request.subarray(i, i + PREPAID_KEY_BYTES),
          ),
        );
      return new Uint8Array(Buffer.concat(signatures));
    },
  };
}

// Code of the thread that verifies the signatures of tokens.
import { type KeyObject, verify } from "node:crypto";
import { workerData } from "node:worker_threads";
import { carryOut } from "./thread.ts";

export interface VerifyData {
  /** Public keys by id, of the type rsa-pss. */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Size of the message that is signed, with which a token begins, bytes. */
  readonly inputBytes: number;
}

export interface VerifyOrder {
  /** Tokens as base64url: texts are cheaper to copy to this thread than objects. */
  readonly headers: readonly string[];
  /** The id of each token's key. */
  readonly keyIds: readonly string[];
}

const { keys, inputBytes } = workerData as VerifyData;

carryOut(({ headers, keyIds }: VerifyOrder): boolean[] =>
  headers.map((header, i) => {
    const token = Buffer.from(header, "base64url");
    const [input, signature] = [token.subarray(0, inputBytes), token.subarray(inputBytes)];
    // Also false for a signature that is not below the modulus. The key names padding and salt itself: Node takes about
    // as long to read them from an object with options as to verify.
    return verify("sha384", input, keys.get(keyIds[i]!)!, signature);
  }),
);

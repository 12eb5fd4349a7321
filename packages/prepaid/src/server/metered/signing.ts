// Signs the few blinded messages of a change or a swap, each with the key of its value.
import { PREPAID_KEY_BYTES } from "../../index.ts";
import type { Key } from "../keyring.ts";
import type { Signer } from "../signer.ts";

/**
 * Signs each message with the key at its place.
 * @param keys one for each message, each with a private key
 * @param batch for each message, its key's modulus is larger
 * @returns the signatures, one after the other, in the order of the messages
 * @throws CheckUnavailable OVERLOADED, SIGNER_FAILED
 */
export async function signMessages(signer: Signer, keys: readonly Key[], batch: Uint8Array): Promise<Uint8Array> {
  const signed = await Promise.all(
    [...new Set(keys)].map(async (key) => {
      const places = keys.flatMap((other, i) => (other === key ? [i] : []));
      const messages = new Uint8Array(places.length * PREPAID_KEY_BYTES);
      places.forEach((place, i) => {
        messages.set(batch.subarray(place * PREPAID_KEY_BYTES, (place + 1) * PREPAID_KEY_BYTES), i * PREPAID_KEY_BYTES);
      });
      return { places, signatures: await signer.sign(key, messages) };
    }),
  );
  const all = new Uint8Array(batch.length);
  for (const { places, signatures } of signed)
    places.forEach((place, i) => {
      all.set(signatures.subarray(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES), place * PREPAID_KEY_BYTES);
    });
  return all;
}

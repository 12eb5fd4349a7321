// Signs the few blinded messages of a change or a swap, each with the key of its value.
import type { Key } from "../keyring.ts";
import type { Signer } from "../signer.ts";

const MESSAGE_BYTES = 256;

/** The number of the first message that its key cannot sign, from 1; undefined if all can be signed. @param keys of the messages, in order */
export function unsignable(keys: readonly Key[], batch: Uint8Array): number | undefined {
  const at = keys.findIndex(
    ({ modulus }, i) => modulus.compare(batch, i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES) <= 0,
  );
  return at < 0 ? undefined : at + 1;
}

/** @param keys of the messages, in order; each has a private key @throws CheckUnavailable OVERLOADED, SIGNER_FAILED */
export async function signMessages(signer: Signer, keys: readonly Key[], batch: Uint8Array): Promise<Uint8Array> {
  const signed = await Promise.all(
    [...new Set(keys)].map(async (key) => {
      const places = keys.flatMap((other, i) => (other === key ? [i] : []));
      const messages = new Uint8Array(places.length * MESSAGE_BYTES);
      places.forEach((place, i) => {
        messages.set(batch.subarray(place * MESSAGE_BYTES, (place + 1) * MESSAGE_BYTES), i * MESSAGE_BYTES);
      });
      return { places, signatures: await signer.sign(key, messages) };
    }),
  );
  const all = new Uint8Array(batch.length);
  for (const { places, signatures } of signed)
    places.forEach((place, i) => {
      all.set(signatures.subarray(i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES), place * MESSAGE_BYTES);
    });
  return all;
}

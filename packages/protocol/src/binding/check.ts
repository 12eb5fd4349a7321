import { SottoError } from "../sotto-error.ts";
import { assertBinding } from "./binding.ts";
import { type EthCall, verifyBindingSignature } from "./signature.ts";
import { assertBindingTime } from "./time.ts";

/**
 * Checks that a binding's wallet signed it, and that it is neither expired nor dated in the future. The caller must check
 * that its fields have the expected values.
 * @param value a binding that may be malformed
 * @param now ms
 * @returns why it is not valid; undefined if it is
 * @throws SottoError BINDING_UNCHECKED if the node gives no valid answer, which is not the signer's fault
 */
export async function checkBinding(
  value: unknown,
  signature: string,
  call: EthCall,
  now: number,
): Promise<string | undefined> {
  try {
    const binding = assertBinding(value);
    assertBindingTime(binding, now);
    const signed = await verifyBindingSignature(binding, signature, call);
    return signed ? undefined : "the wallet did not sign the shielded address for this chain and pool";
  } catch (error) {
    if (!(error instanceof SottoError) || error.code === "BINDING_UNCHECKED") throw error;
    return error.message;
  }
}

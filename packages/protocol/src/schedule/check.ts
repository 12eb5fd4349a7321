import { checkBinding } from "../binding/check.ts";
import { type EthCall, verifyWalletSignature } from "../binding/signature.ts";
import { assertBindingTime } from "../binding/time.ts";
import { monthAt } from "../month.ts";
import { SottoError } from "../sotto-error.ts";
import { assertMonthAddresses } from "./addresses.ts";
import { assertSchedule, scheduleDigest } from "./schedule.ts";

/**
 * Checks that a schedule's wallet signed it, and that it is neither older than 400 days nor dated in the future. The caller must
 * check that wallet, tag, chain and pool have the expected values, and that no schedule with a higher number was seen.
 * @param value a schedule that may be malformed
 * @param now ms
 * @returns why it is not valid; undefined if it is
 * @throws SottoError BINDING_UNCHECKED if the node gives no valid answer, which is not the signer's fault
 */
export async function checkSchedule(
  value: unknown,
  signature: string,
  call: EthCall,
  now: number,
): Promise<string | undefined> {
  try {
    const schedule = assertSchedule(value);
    assertBindingTime(schedule, now);
    const signed = await verifyWalletSignature(schedule.wallet, scheduleDigest(schedule), signature, call);
    return signed ? undefined : "the wallet did not sign the schedule for this chain and pool";
  } catch (error) {
    if (!(error instanceof SottoError) || error.code === "BINDING_UNCHECKED") throw error;
    return error.message;
  }
}

/**
 * Checks as every client does that a wallet signed its addresses of months: the schedule, and the address of this and of each
 * later month. Nobody is asked to pay the addresses of earlier months.
 * @param value addresses that may be malformed
 * @param now ms
 * @returns why they are not valid; undefined if they are
 * @throws SottoError BINDING_UNCHECKED if the node gives no valid answer, which is not the signer's fault
 */
export async function checkMonthAddresses(value: unknown, call: EthCall, now: number): Promise<string | undefined> {
  try {
    const { schedule, signature, bindings } = assertMonthAddresses(value);
    const problem = await checkSchedule(schedule, signature, call, now);
    if (problem !== undefined) return problem;
    const current = monthAt(now);
    for (const { month, binding, signature: signed } of bindings) {
      const wrong = month < current ? undefined : await checkBinding(binding, signed, call, now);
      if (wrong !== undefined) return `the address of ${month}: ${wrong}`;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof SottoError) || error.code === "BINDING_UNCHECKED") throw error;
    return error.message;
  }
}

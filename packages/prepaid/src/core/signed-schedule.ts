import { type EthCall, normalizeSignature, verifyWalletSignature } from "@sotto/protocol";
import { assertObject, recode } from "@sotto/protocol/extend";
import { decodeSchedule, encodeSchedule, type PrepaidSchedule, scheduleDigest, type WireSchedule } from "./schedule.ts";

/** Maximum size of a signed schedule as JSON, bytes. */
export const MAX_SIGNED_SCHEDULE_BYTES = 128 * 1024;

/** A schedule with its wallet's signature over `scheduleTypedData`. */
export interface SignedSchedule {
  /** The schedule that the signature is of. */
  readonly schedule: PrepaidSchedule;
  /** 1 to 8,192 bytes, lower-case hex with 0x. */
  readonly signature: string;
}

/** The wire form of a signed schedule, which is also the content of schedule.signed.json. */
export interface WireSignedSchedule {
  /** The schedule that the signature is of. */
  readonly schedule: WireSchedule;
  /** The wallet's signature, 1 to 8,192 bytes, lower-case hex with 0x. */
  readonly signature: string;
}

/** A signed schedule for JSON. @throws SottoError INVALID_ARGUMENT */
export const encodeSignedSchedule = ({ schedule, signature }: SignedSchedule): WireSignedSchedule => ({
  schedule: encodeSchedule(schedule),
  signature: recode("INVALID_ARGUMENT", "not a signed schedule", () => normalizeSignature(signature)),
});

/**
 * Inverse of `encodeSignedSchedule`, for a schedule from another party. Does not check the signature: see
 * `verifyScheduleSignature`.
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeSignedSchedule(wire: unknown): SignedSchedule {
  return recode("INVALID_ARGUMENT", "not a signed schedule", () => {
    assertObject(wire, "a signed schedule");
    const { schedule, signature } = wire as Record<keyof WireSignedSchedule, unknown>;
    return { schedule: decodeSchedule(schedule), signature: normalizeSignature(signature) };
  });
}

/**
 * Whether the schedule's wallet signed it. The caller must make sure that `call` asks a node of the schedule's chain.
 * @throws SottoError INVALID_ARGUMENT, BINDING_SIGNATURE_INVALID; BINDING_UNCHECKED if the node gives no valid answer
 */
export const verifyScheduleSignature = async (
  { schedule, signature }: SignedSchedule,
  call: EthCall,
): Promise<boolean> => verifyWalletSignature(schedule.wallet, scheduleDigest(schedule), signature, call);

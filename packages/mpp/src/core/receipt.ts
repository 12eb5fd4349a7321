// A receipt: what a server says about the payment that it accepted, in the header Payment-Receipt.
import { type Bytes32, hexToBytes } from "@sotto/protocol";
import { MPP_METHOD, TIMESTAMP } from "./challenge.ts";
import { reading, refuse } from "./errors.ts";
import { decodeText, encodeJson, fieldOf, parseJson } from "./json.ts";

const CODE = "MPP_RECEIPT_INVALID";

/** The response header of a receipt. */
export const RECEIPT_HEADER = "Payment-Receipt";

/** What the server says about the payment. It proves nothing to others: nobody signed it. */
export interface MppReceipt {
  /** Id of the challenge that was answered; undefined if the server does not say it. */
  readonly challengeId: string | undefined;
  /** The transaction that settled the payment, 32 bytes, hex with 0x. */
  readonly reference: Bytes32;
  /** When the server accepted the payment, RFC 3339. */
  readonly timestamp: string;
}

/** A receipt as the value of Payment-Receipt. @throws MppError MPP_RECEIPT_INVALID */
export function encodeReceipt({ challengeId, reference, timestamp }: MppReceipt): string {
  const value = encodeJson({ method: MPP_METHOD, reference, status: "success", timestamp, challengeId });
  parseReceipt(value);
  return value;
}

/** Parses a receipt of this method. Ignores unknown fields. @throws MppError MPP_RECEIPT_INVALID */
export function parseReceipt(value: string): MppReceipt {
  const json = parseJson(decodeText(value, "the receipt", CODE), "the receipt", CODE);
  if (fieldOf(json, "method") !== MPP_METHOD || fieldOf(json, "status") !== "success")
    refuse(CODE, `the receipt is not one of a successful payment with the method ${MPP_METHOD}`);
  const [reference, timestamp, challengeId] = ["reference", "timestamp", "challengeId"].map((name) =>
    fieldOf(json, name),
  );
  reading(CODE, () => hexToBytes(reference, 32, "reference"));
  if (typeof timestamp !== "string" || !TIMESTAMP.test(timestamp))
    refuse(CODE, "the receipt's timestamp is not RFC 3339");
  if (challengeId !== undefined && typeof challengeId !== "string")
    refuse(CODE, "the receipt's challengeId is not a text");
  return { challengeId, reference: reference as Bytes32, timestamp };
}

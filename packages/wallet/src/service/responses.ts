import {
  message as compose,
  type DeploymentManifest,
  foreign,
  MAX_PAYMENT_TOKEN_LENGTH,
  parseDeployment,
} from "@sotto/protocol";
import { ServiceClientError } from "./errors.ts";
import type { Json } from "./http.ts";

/** The response of verify for a payment that passed all checks. */
export interface VerifiedPayment {
  /** Used for settle and in the proof header. Keep it secret until the resource is delivered. */
  readonly paymentToken: string;
  /** Seconds until settle no longer accepts it. */
  readonly expiresIn: number;
}

/** A payment, deposit or withdrawal that is on chain. */
export interface Settlement {
  /** Hash of the transaction. */
  readonly txSignature: string;
  /** Number of the transaction's block. */
  readonly blockNumber: number;
  /** The account that paid the gas, as the service names it. */
  readonly gasFeePaidBy: string;
  /** The service's id for it; optional. */
  readonly id?: string | undefined;
}

/** The response of settle, deposit and withdraw. */
export type Outcome =
  | ({
      /** It is on chain with its confirmations. */
      readonly status: "success";
    } & Settlement)
  | {
      /** The outcome is not known yet: ask again with the same request. */
      readonly status: "pending";
      /** Hash of the last broadcast transaction, hex with 0x; "0x" if there is none. */
      readonly txSignature: string;
      /** The service's id for it; optional. */
      readonly id?: string | undefined;
    }
  | {
      /** It can no longer succeed. */
      readonly status: "failed";
      /** Why it failed: a stable code, such as EXPIRED. */
      readonly reason: string;
      /** The service's id for it; optional. */
      readonly id?: string | undefined;
    };

/** A registry's response for a phone number. `fields` is the whole body. */
export interface PhoneMapping {
  /** Address of the wallet. */
  readonly wallet: string;
  /** Hash of the number, hex with 0x. */
  readonly phoneHash: string;
  /** Whether the registry stores the number encrypted. */
  readonly encryptedMapping: boolean;
  /** Whether the number was proven with a code. */
  readonly verified: boolean;
  /** The whole response. */
  readonly fields: Json;
}

const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const TRANSACTION = /^0x[0-9a-f]{64}$/;
const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Stands for the reason of a service that gives none. */
export const NO_REASON = "NO_REASON";

const REASON = /^[A-Z0-9_]{1,64}$/;

const invalid = (what: string) => new ServiceClientError("SERVICE_ANSWER_INVALID", `the service's answer has ${what}`);
const isCount = (value: unknown, max: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max;

/** @throws ServiceClientError PAYMENT_INVALID for `valid: false`, SERVICE_ANSWER_INVALID */
export function parseVerification(body: Json): VerifiedPayment {
  const { valid, paymentToken, expiresIn, reason, message } = body;
  if (valid === false) {
    const why = typeof reason === "string" && REASON.test(reason) ? reason : NO_REASON;
    const said = typeof message === "string" ? foreign(message) : "the payment did not pass the service's checks";
    const code = why === NO_REASON ? why : foreign(why);
    throw new ServiceClientError("PAYMENT_INVALID", compose`${code}: ${said}`, { reason: why });
  }
  if (valid !== true) throw invalid("no valid: true or false");
  if (typeof paymentToken !== "string" || paymentToken.length > MAX_PAYMENT_TOKEN_LENGTH || !TOKEN.test(paymentToken))
    throw invalid(`no paymentToken of three parts and at most ${MAX_PAYMENT_TOKEN_LENGTH} characters`);
  if (!isCount(expiresIn, 86_400)) throw invalid("no expiresIn of 0 to 86,400 seconds");
  return { paymentToken, expiresIn };
}

/** @throws ServiceClientError SERVICE_ANSWER_INVALID */
export function parseOutcome(body: Json): Outcome {
  const { status, txSignature, blockNumber, gasFeePaidBy, id, reason } = body;
  if (id !== undefined && (typeof id !== "string" || !ID.test(id))) throw invalid("an invalid id");
  if (status === "success") {
    if (typeof txSignature !== "string" || !TRANSACTION.test(txSignature)) throw invalid("no transaction hash");
    if (!isCount(blockNumber, Number.MAX_SAFE_INTEGER)) throw invalid("no block number");
    if (typeof gasFeePaidBy !== "string" || gasFeePaidBy.length > 128) throw invalid("no gasFeePaidBy");
    return { status, txSignature, blockNumber, gasFeePaidBy, id };
  }
  if (status === "pending") {
    const known = typeof txSignature === "string" && TRANSACTION.test(txSignature);
    return { status, txSignature: known ? txSignature : "0x", id };
  }
  if (typeof status !== "string") throw invalid("no status");
  // Any status other than success is a failed settlement (interface 2.4).
  return {
    status: "failed",
    reason: typeof reason === "string" && REASON.test(reason) ? reason : NO_REASON,
    id,
  };
}

/** @throws ServiceClientError SERVICE_ANSWER_INVALID */
export function parseArtifactSet({ artifactSet }: Json): string {
  const { name } = Object(artifactSet) as Record<string, unknown>;
  if (typeof name !== "string" || !/^[a-z0-9/-]{1,64}$/.test(name)) throw invalid("no name of an artifact set");
  return name;
}

/** @throws ServiceClientError SERVICE_ANSWER_INVALID */
export function parseManifest(body: Json): DeploymentManifest {
  try {
    return parseDeployment(body);
  } catch (cause) {
    const text = `the service's answer is not a manifest: ${(cause as Error).message}`;
    throw new ServiceClientError("SERVICE_ANSWER_INVALID", text, {}, { cause });
  }
}

/** @throws ServiceClientError SERVICE_ANSWER_INVALID */
export function parsePhoneMapping(body: Json): PhoneMapping {
  const { wallet, phoneHash, encryptedMapping, verified } = body;
  if (typeof wallet !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(wallet)) throw invalid("no wallet address");
  if (typeof phoneHash !== "string" || phoneHash.length > 128) throw invalid("no phoneHash");
  if (typeof encryptedMapping !== "boolean" || typeof verified !== "boolean")
    throw invalid("no encryptedMapping and verified");
  return { wallet, phoneHash, encryptedMapping, verified, fields: body };
}

import { canonicalPayment } from "@sotto/protocol";
import { checkX402Time } from "@sotto/protocol/x402";
import { NO_STEP, type TraceStep, traced } from "@sotto/server";
import type { Caller } from "../operations/hold.ts";
import { waitFor } from "../operations/wait.ts";
import { queueReserved, type SettleServices, shownOf } from "../payments/settle.ts";
import { reservePayment, type VerifyServices } from "../payments/verify.ts";
import type { Operation, Reservation } from "../store/index.ts";
import { parseX402, type ServedDeployment, type X402Payment } from "./request.ts";
import type { X402Request } from "./schemas.ts";

export interface X402Services extends VerifyServices, SettleServices {
  readonly config: VerifyServices["config"];
  readonly store: VerifyServices["store"] & SettleServices["store"];
  readonly facts: ServedDeployment["facts"];
}

export interface Refused {
  readonly refused: { readonly reason: string; readonly message: string };
}

/**
 * Checks a payment as /verify does, compares it with the requirements, and reserves its note.
 * @throws SottoError X402_*, PROOF_*, QUOTA_EXCEEDED, CHAIN_UNAVAILABLE, STORE_UNAVAILABLE
 */
export async function verifyX402(
  request: X402Request,
  client: string,
  services: X402Services,
  step: TraceStep = NO_STEP,
): Promise<{ readonly id: string } | Refused> {
  const read = parseX402(request, services);
  return "refusal" in read ? { refused: read.refusal } : reserve(read, client, services, step);
}

/**
 * Settles a payment, verified before or not, and waits for its outcome. Repeated requests get the same outcome: a payment that
 * was queued is not verified again, because its note may be spent by then.
 * @throws as verifyX402; ServiceError OVERLOADED
 */
export async function settleX402(
  request: X402Request,
  caller: Caller,
  services: X402Services,
): Promise<{ readonly operation: Operation; readonly resource: string } | Refused> {
  const read = parseX402(request, services);
  if ("refusal" in read) return { refused: read.refusal };
  const hold = services.holds.enter(String(read.payment.signals.nullifier), caller);
  const settle = async (known: Reservation | undefined, step: TraceStep) => {
    const queued = await queue(read, known, caller.client, services, step);
    if ("refused" in queued) return queued;
    const operation = await waitFor(queued.operation, hold, caller, services);
    return { operation, resource: read.terms.resource };
  };
  try {
    const known = await knownOf(read, services);
    const step = caller.begin("settle", known?.trace);
    return await traced(
      step,
      () => settle(known, step),
      (result) => ("refused" in result ? { "sotto.result": result.refused.reason } : shownOf(result.operation)),
    );
  } finally {
    hold.leave();
  }
}

/** The reservation of the payment, if it was verified before. */
const knownOf = ({ payment }: X402Payment, { store }: X402Services) =>
  store.reservations.ofBundle(String(payment.signals.nullifier), canonicalPayment(payment));

async function queue(
  read: X402Payment,
  known: Reservation | undefined,
  client: string,
  services: X402Services,
  step: TraceStep,
): Promise<{ readonly operation: Operation } | Refused> {
  const queued = known && (await queueReserved(known, services, step));
  if (queued !== undefined) return { operation: queued };
  const reserved = await reserve(read, client, services, step);
  if ("refused" in reserved) return reserved;
  const bundle = canonicalPayment(read.payment);
  const operation = await queueReserved({ id: reserved.id, bundle }, services, step);
  if (operation !== undefined) return { operation };
  const message = "another payment of the same note replaced this one";
  return { refused: { reason: "TOKEN_REPLACED", message } };
}

async function reserve(
  { payment, terms, fields }: X402Payment,
  client: string,
  services: X402Services,
  step: TraceStep,
): Promise<{ readonly id: string } | Refused> {
  const late = checkX402Time(payment, terms, services.clock());
  if (late !== undefined) return { refused: late };
  const result = await reservePayment(payment, fields, client, services, step);
  if (result.valid) return { id: result.id };
  const { reason, message } = result;
  return { refused: { reason, message } };
}

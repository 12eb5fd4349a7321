import { parseAddress, rangeSignals, type WireBundle } from "@sotto/protocol";
import { NO_STEP, type TraceAttributes, type TraceStep, traced } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import type { Quotas } from "../operations/budget.ts";
import type { Caller, Holds } from "../operations/hold.ts";
import { clientQuotas, quotaExceeded, recipientQuota } from "../operations/quotas.ts";
import { isEnded, waitFor } from "../operations/wait.ts";
import type { RelayerPort } from "../ports.ts";
import { paymentCallOf } from "../relayer/calldata.ts";
import type { Operation, Reservation, Store } from "../store/index.ts";
import type { TokenIssuer } from "../token/token.ts";
import type { SettleRequest } from "./schemas.ts";

export interface SettleServices {
  readonly config: Config & Quotas;
  readonly store: Pick<Store, "reservations" | "operations">;
  readonly tokens: TokenIssuer;
  readonly relayer: RelayerPort;
  readonly holds: Holds;
}

/**
 * Queues the payment that a token names, once, and waits for its outcome.
 * @returns the operation after the wait; it is still open only if the client or the operator accepts `pending`
 * @throws SottoError INVALID_ADDRESS; ServiceError INVALID_TOKEN, TOKEN_EXPIRED, TOKEN_REPLACED, PAYMENT_MISMATCH,
 * QUOTA_EXCEEDED, OVERLOADED, SETTLEMENT_UNKNOWN
 */
export async function settlePayment(
  request: SettleRequest,
  caller: Caller,
  services: SettleServices,
): Promise<Operation> {
  const { claims, expired } = await services.tokens.read(request.paymentToken);
  const { store } = services;
  const gone = () =>
    expired
      ? new ServiceError("TOKEN_EXPIRED", "the token expired before its payment was queued; verify again or pay again")
      : new ServiceError("TOKEN_REPLACED", "another payment of the same note replaced this token's payment");
  const reservation = await store.reservations.get(claims.jti);
  if (reservation === undefined) throw gone();
  assertSame(request, reservation);
  if (expired && (await store.operations.get(claims.jti)) === undefined) throw gone();
  const hold = services.holds.enter(reservation.nullifier, caller);
  // Not before: anyone can send requests with tokens of others.
  const step = caller.begin("settle", reservation.trace);
  const settle = async () => {
    try {
      const queued = await queueReserved(reservation, services, step);
      if (queued === undefined) throw gone();
      const operation = await waitFor(queued, hold, caller, services);
      if (isEnded(operation) || hold.mayAnswerPending) return operation;
    } finally {
      hold.leave();
    }
    throw new ServiceError(
      "SETTLEMENT_UNKNOWN",
      "the payment is queued or broadcast and may still settle: send the same request again",
    );
  };
  return traced(step, settle, shownOf);
}

/** What a trace shows of an operation. */
export const shownOf = ({ kind, state, reason, txHash, blockNumber }: Operation): TraceAttributes => ({
  "sotto.kind": kind,
  "sotto.state": state,
  ...(reason !== undefined && { "sotto.reason": reason }),
  ...(txHash !== undefined && { "sotto.transaction": txHash }),
  ...(blockNumber !== undefined && { "sotto.block": blockNumber }),
});

/**
 * Queues a reserved payment, once.
 * @returns undefined if the reservation expired or was replaced
 * @throws ServiceError QUOTA_EXCEEDED
 */
export async function queueReserved(
  { id, bundle }: Pick<Reservation, "id" | "bundle">,
  { config, store }: Pick<SettleServices, "config" | "store">,
  step: TraceStep = NO_STEP,
): Promise<Operation | undefined> {
  const known = await store.operations.get(id);
  if (known !== undefined) return known;
  const { recipientTag } = rangeSignals((JSON.parse(bundle) as WireBundle).amountPublicSignals);
  const quota = recipientQuota(config, recipientTag);
  const again = (client: string) => clientQuotas(config, client);
  const queued = await store.operations.enqueuePayment(id, paymentCallOf, [quota], again, step.keep);
  if (queued.kind === "exceeded") throw quotaExceeded(queued.quota, queued.resetAt);
  return queued.kind === "gone" ? undefined : queued.operation;
}

/** Fields of a settle request whose names differ from the bundle's. */
const ALIASES: Readonly<Record<string, keyof WireBundle>> = { resource: "resourceUrl" };

const FIELDS = [
  "proof",
  "publicSignals",
  "encryptedAmount",
  "recipientPublicKey",
  "resource",
  "amountProof",
  "amountPublicSignals",
  "senderCommitment",
  "resourceUrl",
  "timestamp",
] as const satisfies readonly (keyof SettleRequest)[];

/**
 * Refuses a request that differs from the payment that was verified.
 * @throws SottoError INVALID_ADDRESS; ServiceError PAYMENT_MISMATCH
 */
function assertSame(request: SettleRequest, { bundle }: Reservation): void {
  const verified = JSON.parse(bundle) as WireBundle;
  for (const field of FIELDS) {
    // Addresses have several spellings.
    const given = field === "recipientPublicKey" ? parseAddress(request[field], field) : request[field];
    if (given === undefined) continue;
    const expected = verified[ALIASES[field] ?? (field as keyof WireBundle)];
    if (JSON.stringify(given) !== JSON.stringify(expected))
      throw new ServiceError("PAYMENT_MISMATCH", `${field} differs from the payment that the token was issued for`, {
        field,
      });
  }
}

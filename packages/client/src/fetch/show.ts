import { foreign, message, quoted } from "@sotto/protocol";
import { PurchaseError } from "../purchase/errors.ts";
import { HEADER_FRESH_MS, type PaidPurchase } from "../purchase/paid.ts";
import type { PurchaseStage } from "../purchase/progress.ts";
import { PROOF_HEADER } from "./call.ts";
import type { PayingCall } from "./method.ts";
import { reasonOf } from "./present.ts";

/**
 * Maximum retries with the same proof if the server fails or does not answer. A resource server runs the handler of a
 * payment at most three times: it would refuse a fourth presentation permanently.
 */
const MAX_RETRIES = 2;

/**
 * Sends the request with its proof. If the server fails (5xx), is unreachable or answers 402 with Retry-After, the
 * client presents the same proof again, at most three times in total. A refusal is final, and the client does not pay
 * again.
 * @param now milliseconds since the Unix epoch
 * @throws PurchaseError PAID_BUT_REFUSED, PAID_NOT_TAKEN_YET; the errors of fetch; the signal's reason
 */
export async function showProof(call: PayingCall, paid: PaidPurchase, url: URL, now: () => number): Promise<Response> {
  const { resourceUrl, price, txSignature, header } = paid;
  const tell = (stage: PurchaseStage) => call.tell({ stage, resourceUrl, price, txSignature });
  try {
    const shown = await call.present(
      { name: PROOF_HEADER, value: header, url },
      {
        retries: MAX_RETRIES,
        before: (retry) => {
          tell(retry === 0 ? "presenting" : "retrying");
          return paid.showing();
        },
        mayRetry: () => now() - paid.timestamp < HEADER_FRESH_MS,
      },
    );
    const { response, outcome } = shown;
    const { status } = response;
    if (outcome === "pending") {
      const said = foreign(shown.reason);
      const text = message`the payment is settled, but the server cannot accept the proof yet: ${said}; repeat the same request`;
      throw new PurchaseError("PAID_NOT_TAKEN_YET", text, { id: paid.id, status, reason: quoted(shown.reason) });
    }
    if (outcome === "refused") throw await paid.refused({ status, reason: shown.reason });
    if (status === 400) throw await paid.refused({ status, reason: await reasonOf(response) });
    // The next equal request sends the proof again; a server that has already accepted it says so.
    if (outcome === "unseen") paid.release();
    else await paid.delivered();
    return response;
  } catch (error) {
    paid.release();
    call.signal?.throwIfAborted();
    throw error;
  }
}

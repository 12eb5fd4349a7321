import { foreign, message, quoted } from "@sotto/protocol";
import { PurchaseError } from "../purchase/errors.ts";
import { HEADER_FRESH_MS, type PaidPurchase } from "../purchase/paid.ts";
import type { PurchaseStage } from "../purchase/progress.ts";
import type { CallPayment } from "./call.ts";
import type { PayingCall } from "./method.ts";
import { type Presented, reasonOf } from "./present.ts";

/** How one proof is presented: in the header of x402-zk, or in another method's. */
export interface Presenter {
  /** The call that may send this header. */
  readonly call: PayingCall;
  payment(): Omit<CallPayment, "url">;
  /** Whether a refusal asks for the same payment in new words. If so, `payment` uses these from now on. */
  renew(refused: Presented): Promise<boolean>;
  answered(response: Response): void;
}

/**
 * Maximum retries with the same proof if the server fails or does not answer. A resource server runs the handler of a
 * payment at most three times: it would refuse a fourth presentation permanently.
 */
const MAX_RETRIES = 2;

/**
 * Sends the request with its proof. If the server fails (5xx), is unreachable or answers 402 with Retry-After, the
 * client presents the same proof again, at most three times in total. A refusal is final, and the client does not pay
 * again; if the refusal asks for the same payment in new words, the proof is presented in them first, once.
 * @param now milliseconds since the Unix epoch
 * @throws PurchaseError PAID_BUT_REFUSED, PAID_NOT_TAKEN_YET; the errors of fetch; the signal's reason
 */
export async function showProof(
  presenter: Presenter,
  paid: PaidPurchase,
  url: URL,
  now: () => number,
): Promise<Response> {
  const { call } = presenter;
  const { resourceUrl, price, txSignature } = paid;
  const tell = (stage: PurchaseStage) => call.tell({ stage, resourceUrl, price, txSignature });
  try {
    const present = () =>
      call.present(
        { ...presenter.payment(), url },
        {
          retries: MAX_RETRIES,
          before: (retry) => {
            tell(retry === 0 ? "presenting" : "retrying");
            return paid.showing();
          },
          mayRetry: () => now() - paid.timestamp < HEADER_FRESH_MS,
        },
      );
    let shown = await present();
    if (shown.outcome === "refused" && (await presenter.renew(shown))) shown = await present();
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
    else {
      presenter.answered(response);
      await paid.delivered();
    }
    return response;
  } catch (error) {
    paid.release();
    call.signal?.throwIfAborted();
    throw error;
  }
}

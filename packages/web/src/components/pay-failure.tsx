import type { Quote } from "../engine/api.ts";
import type { Failure } from "../errors.ts";
import { Amount } from "./amount.tsx";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { Hash } from "./hash.tsx";
import { Verbatim } from "./verbatim.tsx";

interface Properties {
  readonly failure: Failure;
  /** The terms that the user agreed to. */
  readonly quote: Pick<Quote, "price">;
  /** Asks the merchant for its terms again. */
  onAsk(): void;
  /** Pays again; the same request resumes a payment. @param accepted the new wallet that the user accepts */
  onPay(accepted?: string): void;
}

/** Why a payment failed, with the old and the new terms if they changed, and the next step. */
export function PayFailure({ failure, quote, onAsk, onPay }: Properties) {
  const { code, details } = failure;
  const offered = typeof details["offered"] === "string" ? details["offered"] : undefined;
  return (
    <>
      <ErrorMessage error={failure}>
        {code === "TERMS_CHANGED" ? (
          <Button small onClick={onAsk}>
            Ask for the price again
          </Button>
        ) : code === "RECIPIENT_CHANGED" && offered !== undefined ? (
          <Button kind="danger" small onClick={() => onPay(offered)}>
            <span>{details["known"] === offered ? "Pay the new key of" : "Pay the new wallet"}</span>{" "}
            <Verbatim>{`${offered.slice(0, 8)}…`}</Verbatim>
          </Button>
        ) : (
          <Button small onClick={() => onPay()}>
            Try again
          </Button>
        )}
      </ErrorMessage>
      <Change failure={failure} price={quote.price} />
    </>
  );
}

/** The old terms beside the new ones. */
function Change({ failure: { details }, price }: { readonly failure: Failure; readonly price: bigint }) {
  const { known, offered, offeredPrice } = details;
  return (
    <dl className="facts" data-testid="changed-terms">
      {typeof offeredPrice === "string" && (
        <>
          <dt>Price that you saw</dt>
          <dd>
            <Amount value={price} />
          </dd>
          <dt>Price now</dt>
          <dd>
            <Amount value={BigInt(offeredPrice)} />
          </dd>
        </>
      )}
      {typeof known === "string" && typeof offered === "string" && (
        <>
          <dt>Merchant's wallet before</dt>
          <dd>
            <Hash value={known} name="merchant's earlier wallet" full />
          </dd>
          <dt>Merchant's wallet now</dt>
          <dd>
            {known === offered ? (
              "the same, with another key: somebody else may own what you pay"
            ) : (
              <Hash value={offered} name="merchant's new wallet" full />
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

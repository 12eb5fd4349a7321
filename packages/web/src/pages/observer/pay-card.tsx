import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { PayFailure } from "../../components/pay-failure.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { EngineState, Paid, Quote } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { useOperation } from "../../hooks/use-operation.ts";

interface Properties {
  readonly state: EngineState;
  /** Called when a payment begins. */
  onPay(quote: Quote): void;
  /** Called when the payment ends without success. */
  onFail(): void;
}

/** Pays a merchant without leaving the page, so that the columns fill in view. */
export function PayCard({ state, onPay, onFail }: Properties) {
  return (
    <section className="card stack" aria-labelledby="pay-here">
      <h2 id="pay-here">Make a payment</h2>
      {state.phase === "open" && state.wallet.balance.total > 0n ? (
        <PayMerchant onPay={onPay} onFail={onFail} />
      ) : (
        <NoWallet state={state} />
      )}
    </section>
  );
}

function NoWallet({ state }: { readonly state: EngineState }) {
  const [text, link] = nextStep(state);
  return (
    <>
      <p className="small soft">{text}</p>
      <div className="row">
        <Link href={state.phase === "open" ? "/wallet/add" : "/wallet"} className="button primary">
          {link}
        </Link>
      </div>
    </>
  );
}

function nextStep({ phase }: EngineState): [text: string, link: string] {
  if (phase === "locked")
    return ["The wallet of this browser is locked. Unlock it to pay from it.", "Unlock the wallet"];
  if (phase === "elsewhere") return ["Another tab of this browser uses the wallet.", "Go to the wallet"];
  if (phase === "open") return ["The wallet has no funds yet. Add some, then come back.", "Add funds"];
  if (phase === "empty")
    return [
      "This browser has no wallet yet. Creating one takes a minute; on a test chain, money is free.",
      "Create a wallet",
    ];
  if (phase === "replaced")
    return [
      "The chain was restarted, and the wallet belongs to the old one. On the wallet's page, you can start fresh on the new one.",
      "Go to the wallet",
    ];
  if (phase === "failed") return ["The wallet cannot be opened at the moment; its page says why.", "Go to the wallet"];
  return ["The wallet is being opened.", "Go to the wallet"];
}

function PayMerchant({ onPay, onFail }: Omit<Properties, "state">) {
  const { merchants } = useConfig();
  const [quote, setQuote] = useState<Quote>();
  const { busy, failure, run } = useAction();
  const ask = (url: string) =>
    run(async () => {
      setQuote(undefined);
      const answer = await engine().ask(url);
      if (answer.kind === "quote") setQuote(answer.quote);
    });
  const again = { onAsk: () => quote !== undefined && ask(quote.url), onEnd: () => setQuote(undefined) };
  if (quote !== undefined) return <Confirm quote={quote} onPay={onPay} onFail={onFail} {...again} />;
  return (
    <>
      {merchants.length === 0 ? (
        <p className="small soft">The host of this page names no merchant to try.</p>
      ) : (
        <ul className="lines">
          {merchants.map(({ name, url, price }) => (
            <li key={url}>
              <span>
                <strong>{name}</strong>
                {price !== undefined && <Amount value={price} />}
              </span>
              <Button small busy={busy} onClick={() => ask(url)} aria-label={`Ask ${name} for its price`}>
                Ask for its price
              </Button>
            </li>
          ))}
        </ul>
      )}
      {failure !== undefined && <ErrorMessage error={failure} />}
      <p className="small">
        <Link href="/wallet/pay">Pay another page</Link>
      </p>
    </>
  );
}

interface ConfirmProperties extends Omit<Properties, "state"> {
  readonly quote: Quote;
  /** Asks the merchant for its terms again. */
  onAsk(): void;
  onEnd(): void;
}

function Confirm({ quote, onPay, onFail, onAsk, onEnd }: ConfirmProperties) {
  const { stages, running, result, failure, run, cancel } = useOperation<Paid>();
  const heading = useRef<HTMLParagraphElement>(null);
  // The pressed button no longer exists, so it cannot keep the focus.
  useEffect(() => heading.current?.focus(), []);
  const pay = (accepted?: string) => {
    onPay(quote);
    run((name, onProgress) =>
      engine()
        .pay(name, quote, accepted, onProgress)
        .catch((error: unknown) => {
          onFail();
          throw error;
        }),
    );
  };
  const begun = running || stages.length > 0;
  return (
    <>
      <p ref={heading} tabIndex={-1}>
        <Verbatim as="strong">{quote.host}</Verbatim> asks for <Amount value={quote.price} />.
      </p>
      {running && (
        <p className="row small" role="status" data-testid="stage">
          <span className="spinner" /> <span>{stages.at(-1)?.stage ?? "Beginning"}</span>
        </p>
      )}
      {failure !== undefined && <PayFailure failure={failure} quote={quote} onAsk={onAsk} onPay={pay} />}
      {result !== undefined && (
        <div className="notice" data-tone="good" role="status">
          <p>
            Paid <Amount value={result.price} />. The columns below show what became known about it.
          </p>
        </div>
      )}
      <div className="row">
        {!begun && failure === undefined && (
          <Button kind="primary" onClick={() => pay()} data-testid="pay">
            Pay <Amount value={quote.price} />
          </Button>
        )}
        {running ? <Button onClick={cancel}>Stop waiting</Button> : <Button onClick={onEnd}>{endText(result)}</Button>}
      </div>
    </>
  );
}

const endText = (result: Paid | undefined): string => (result === undefined ? "Cancel" : "Pay again");

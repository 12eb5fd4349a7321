import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, DoneButton } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { PayFailure } from "../../components/pay-failure.tsx";
import { Stages } from "../../components/stages.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { Answer, Delivery, Paid, Quote } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOperation } from "../../hooks/use-operation.ts";

/** Requests the price of a URL, shows it, and pays once the user agrees. The URL comes from the route. */
export function PayDialog({ onClose }: { onClose(): void }) {
  const url = new URLSearchParams(useSearch()).get("url") ?? "";
  return (
    <Dialog title="Pay for a page" onClose={onClose}>
      {url === "" ? <AskUrl /> : <PayUrl key={url} url={url} onClose={onClose} />}
    </Dialog>
  );
}

function AskUrl() {
  const [typed, setTyped] = useState("");
  const [, navigate] = useLocation();
  return (
    <Form
      className="stack"
      onSubmit={() => navigate(`/wallet/pay?url=${encodeURIComponent(typed)}`, { replace: true })}
    >
      <Field label="Address of the page" type="url" required placeholder="https://" value={typed} onChange={setTyped} />
      <p className="small soft">The wallet asks for the price first. You decide before anything is paid.</p>
      <div className="dialog-actions">
        <Button kind="primary" type="submit">
          See the price
        </Button>
      </div>
    </Form>
  );
}

function PayUrl({ url, onClose }: { readonly url: string; onClose(): void }) {
  const [answer, setAnswer] = useState<Answer>();
  const { busy, failure, run } = useAction();
  const asked = useRef(false);
  const ask = useCallback(
    () =>
      run(async () => {
        setAnswer(undefined);
        setAnswer(await engine().ask(url));
      }),
    [run, url],
  );
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    ask();
    // The prover loads while the user reads the price. If that fails, the payment reports the error.
    engine()
      .warmUp()
      .catch(() => undefined);
  }, [ask]);
  if (failure !== undefined)
    return (
      <>
        <Verbatim as="p" className="url">
          {url}
        </Verbatim>
        <ErrorMessage error={failure}>
          <Button small onClick={ask}>
            Ask again
          </Button>
        </ErrorMessage>
      </>
    );
  if (busy || answer === undefined)
    return (
      <p role="status" className="soft">
        <span className="spinner" /> Asking for the price
      </p>
    );
  if (answer.kind === "free")
    return (
      <>
        <p>This page is free: the server asks for no payment.</p>
        <DeliveryView delivery={answer} />
      </>
    );
  return <Confirm quote={answer.quote} onAsk={ask} onClose={onClose} />;
}

function Confirm({ quote, onAsk, onClose }: { readonly quote: Quote; onAsk(): void; onClose(): void }) {
  const { stages, running, result, failure, run, cancel } = useOperation<Paid | "tokens">();
  const { price, limits, spentToday, spendable } = quote;
  const pay = (accepted?: string) => run((name, onProgress) => engine().pay(name, quote, accepted, onProgress));
  const buyTokens = () =>
    run((name, onProgress) =>
      engine()
        .buyTokens(name, quote, onProgress)
        .then(() => "tokens" as const),
    );
  if (result === "tokens") return <TokensBought quote={quote} onClose={onClose} />;
  if (result !== undefined) return <Receipt paid={result} metered={quote.metered} onClose={onClose} />;
  const left = limits.maxPerDay > spentToday ? limits.maxPerDay - spentToday : 0n;
  const tooMuch = price > limits.maxPerRequest || price > left;
  const started = running || stages.length > 0;
  return (
    <>
      <div className="price">
        <Amount value={price} large />
        <Verbatim as="p" className="url">
          {quote.url}
        </Verbatim>
      </div>
      <dl className="facts">
        <dt>Merchant</dt>
        <dd>
          <Verbatim as="strong">{quote.host}</Verbatim>
        </dd>
        <dt>Merchant's wallet</dt>
        <dd>
          <Hash value={quote.merchant} name="merchant's wallet" />
        </dd>
        {quote.phone !== "" && (
          <>
            <dt>Phone number</dt>
            <Verbatim as="dd">{quote.phone}</Verbatim>
          </>
        )}
        <dt>Your limit per payment</dt>
        <dd>
          <Amount value={limits.maxPerRequest} />
        </dd>
        <dt>Left of today's limit</dt>
        <dd>
          <Amount value={left} />
        </dd>
        <dt>Spendable</dt>
        <dd>
          <Amount value={spendable} />
        </dd>
      </dl>
      {!started && (
        <p className="small soft">
          The merchant learns that it was paid, and the amount. The service learns the merchant, but not who you are.
          The chain does not show the merchant, the payer or the amount.
        </p>
      )}
      {quote.metered && !started && (
        <div className="notice" role="status">
          <p>
            This is the most that the request can cost. A prepaid token pays what the request uses, and the rest comes
            back. A single payment pays all of it.
          </p>
        </div>
      )}
      {started && <Stages stages={stages} running={running} />}
      {tooMuch && (
        <div className="notice" data-tone="warn" role="alert">
          <p>
            This is more than your limits allow. <Link href="/wallet/settings">Change the limits</Link>
          </p>
        </div>
      )}
      {spendable < price && !started && (
        <div className="notice" data-tone="warn" role="status">
          <p>
            Your spendable balance is too small. <Link href="/wallet/add">Add funds</Link>
          </p>
        </div>
      )}
      {failure !== undefined && <PayFailure failure={failure} quote={quote} onAsk={onAsk} onPay={pay} />}
      <div className="dialog-actions">
        {running ? (
          <Button onClick={cancel}>Stop waiting</Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            {quote.tokens && failure === undefined && <Button onClick={buyTokens}>Buy tokens</Button>}
            {failure === undefined && (
              <Button kind="primary" disabled={tooMuch} onClick={() => pay()} data-testid="confirm">
                Pay <Amount value={price} />
              </Button>
            )}
          </>
        )}
      </div>
    </>
  );
}

/** After a pack was bought: each of its tokens pays for one request of this price. */
function TokensBought({ quote, onClose }: { readonly quote: Quote; onClose(): void }) {
  return (
    <>
      <div className="notice" data-tone="good" role="status">
        <p>
          Tokens bought at <Verbatim as="strong">{quote.host}</Verbatim>.{" "}
          <span>{quote.metered ? "Each pays for one request of at most" : "Each pays for one request of"}</span>{" "}
          <Amount value={quote.price} />. The merchant cannot link them to this payment or to each other.
        </p>
      </div>
      <DoneButton onClose={onClose} />
    </>
  );
}

/** The result of a payment: the delivered response and the transaction. */
export function Receipt({
  paid,
  metered = false,
  onClose,
}: {
  readonly paid: Paid;
  /** Whether a token's change follows. */
  readonly metered?: boolean;
  onClose(): void;
}) {
  return (
    <>
      <div className="notice" data-tone="good" role="status">
        <p>
          <strong>
            <span>{metered && paid.transaction === "" ? "Paid at most" : "Paid"}</span> <Amount value={paid.price} />
          </strong>
        </p>
        <p className="row">
          {paid.transaction === "" ? (
            <span>
              {metered ? "with a prepaid token; the overview shows what was charged" : "with a prepaid token"}
            </span>
          ) : (
            <span>
              Transaction <Hash value={paid.transaction} name="transaction" />
            </span>
          )}
        </p>
      </div>
      <DeliveryView delivery={paid} />
      <DoneButton onClose={onClose} />
    </>
  );
}

/** A response as text: the wallet never runs or renders what a merchant sends. */
export function DeliveryView({ delivery }: { readonly delivery: Delivery }) {
  const { status, type, text, truncated } = delivery;
  return (
    <figure className="stack tight" data-testid="delivery">
      <figcaption className="small soft">
        {`Response ${status}${type === "" ? "" : `, ${type.split(";")[0]}`}${truncated ? ", first megabyte" : ""}`}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without focus, the keyboard cannot scroll it. */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}

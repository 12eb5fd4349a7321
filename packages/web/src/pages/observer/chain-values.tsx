import type { SettledCall } from "@sotto/chain";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { SettleTransaction } from "../../engine/observer-api.ts";
import { useAction } from "../../hooks/use-action.ts";
import { callOf, EXPLANATIONS, type FieldValue, fieldsOf } from "./fields.ts";
import type { ChainPayment } from "./payments.ts";
import type { Observation } from "./use-observation.ts";

interface Properties {
  readonly chain: ChainPayment;
  /** With calldata; undefined until it is loaded. */
  readonly transaction: SettleTransaction | undefined;
  readonly seen: Observation;
}

/** The transaction of a payment, value by value, each with its explanation. */
export function ChainValues({ chain, transaction, seen }: Properties) {
  const { event, place, batch } = chain;
  const call = callOf(event, transaction?.payments);
  const fields = fieldsOf(event, call);
  return (
    <section className="card stack" aria-labelledby="values" data-testid="values">
      <div>
        <h2 id="values">The chain, value by value</h2>
        <p className="soft small">
          The chain has no other bytes of this payment. Open a value to read its purpose, its readers, and why it
          reveals nothing more.
        </p>
      </div>
      <dl className="facts">
        <dt>Transaction</dt>
        <dd>
          <Hash value={event.transactionHash} name="transaction" />
        </dd>
        <dt>Time</dt>
        <dd>
          <Time at={event.timestamp * 1000} />, block <span className="number">{event.blockNumber}</span>
        </dd>
        {transaction !== undefined && (
          <>
            <dt>Sent by the relayer</dt>
            <dd>
              <Hash value={transaction.from} name="relayer's account" />
            </dd>
          </>
        )}
        <dt>Payments in it</dt>
        <dd>{batch === 1 ? "This one" : `${batch}; this is number ${place + 1}`}</dd>
      </dl>
      {batch > 1 && (
        <ol className="batch" aria-label="Payments of this transaction">
          {Array.from({ length: batch }, (_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: its position identifies it.
            <li key={i} aria-current={i === place ? "true" : undefined}>
              {i + 1}
            </li>
          ))}
        </ol>
      )}
      {transaction === undefined && <LoadCall chain={chain} seen={seen} />}
      {transaction !== undefined && call === undefined && (
        <div className="notice" data-tone="warn">
          <p>Another contract made this call, so only the values of the pool's event are shown.</p>
        </div>
      )}
      <div className="values">
        {fields.map((field) => (
          <Value key={field.name} field={field} />
        ))}
      </div>
      {transaction !== undefined && <Bytes transaction={transaction} call={call} />}
    </section>
  );
}

function LoadCall({ chain, seen }: Pick<Properties, "chain" | "seen">) {
  const { busy, failure, run } = useAction();
  const error = failure ?? seen.callFailure;
  return (
    <div className="notice stack tight">
      <p>
        Only the pool's event is known so far; the call has more. The page reads the calls of the newest transactions
        all at once. Asking for an older one shows the node that someone is interested in it.
      </p>
      {error !== undefined && <ErrorMessage error={error} />}
      <div className="row">
        <Button small busy={busy} onClick={() => run(() => seen.loadCall(chain.transaction.hash))}>
          Ask the node for this call
        </Button>
      </div>
    </div>
  );
}

function Value({ field: { name, words, offset } }: { readonly field: FieldValue }) {
  const { title, is, opens, reveals } = EXPLANATIONS[name];
  return (
    <details className="value" data-testid={`value-${name}`}>
      <summary>
        <span className="value-title">
          <span>{title}</span>{" "}
          <Verbatim as="code" className="soft tiny">
            {name}
          </Verbatim>
        </span>
        <Verbatim as="code" className="value-short soft">
          {shortOf(name, words)}
        </Verbatim>
      </summary>
      <div className="value-body stack tight">
        <dl className="explained">
          <dt>What it is</dt>
          <dd>{is}</dd>
          <dt>Who can open it</dt>
          <dd>{opens}</dd>
          <dt>What it reveals</dt>
          <dd>{reveals}</dd>
        </dl>
        <p className="bytes">
          {words.map((word) => (
            <Verbatim as="code" key={word}>
              {word}
            </Verbatim>
          ))}
        </p>
        <p className="soft tiny">
          {offset === undefined
            ? "In the pool's event."
            : `In the call, from byte ${offset} on: ${32 * words.length} bytes.`}
        </p>
      </div>
    </details>
  );
}

/** The value in a few characters: small numbers as people read them. */
function shortOf(name: FieldValue["name"], words: readonly string[]): string {
  const [word = ""] = words;
  if (words.length > 1) return `${words.length} words`;
  if (name === "leafIndex") return String(BigInt(word));
  if (name === "validUntil") return new Date(Number(word) * 1000).toISOString().replace(".000", "");
  return `${word.slice(0, 10)}…${word.slice(-6)}`;
}

const PAYMENT_BYTES = 640;

/** The calldata as it is on the chain; the payment's own bytes are marked. */
function Bytes({
  transaction,
  call,
}: {
  readonly transaction: SettleTransaction;
  readonly call: SettledCall | undefined;
}) {
  const { data } = transaction;
  const size = (data.length - 2) / 2;
  const start = call === undefined ? 0 : 2 + 2 * call.offset;
  const end = call === undefined ? 0 : start + 2 * PAYMENT_BYTES;
  return (
    <details className="value">
      <summary>
        <span className="value-title">The bytes of the whole call</span>
        <span className="value-short soft small number">{`${size} bytes`}</span>
      </summary>
      <div className="value-body">
        <Verbatim as="pre" tabIndex={0} className="calldata">
          {data.slice(0, start)}
          <mark>{data.slice(start, end)}</mark>
          {data.slice(end)}
        </Verbatim>
        <p className="soft tiny">The marked bytes are this payment's; the others belong to the payments beside it.</p>
      </div>
    </details>
  );
}

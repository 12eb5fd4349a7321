import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";
import type { SeenPayment } from "./payments.ts";

interface Properties {
  readonly payments: readonly SeenPayment[];
  readonly shown: SeenPayment | undefined;
  /** Whether the newest payment is shown as soon as there is one. */
  readonly following: boolean;
  /** The amounts that the viewing key can read, by digest. */
  readonly amounts: ReadonlyMap<string, bigint>;
  /** Whether the chain is still being read. */
  readonly reading: boolean;
  onSelect(id: string | undefined): void;
}

/** The payments of the pool, newest first. */
export function PaymentList({ payments, shown, following, amounts, reading, onSelect }: Properties) {
  return (
    <section className="card card-flush" aria-labelledby="payments">
      <header>
        <h2 id="payments">Payments of this pool</h2>
        {following ? (
          <span className="state" data-tone="good">
            follows your newest
          </span>
        ) : (
          <Button small onClick={() => onSelect(undefined)}>
            Follow the newest
          </Button>
        )}
      </header>
      {payments.length === 0 ? (
        <p className="empty" role="status">
          {reading ? (
            <span>
              <span className="spinner" /> Reading the chain
            </span>
          ) : (
            "No payment yet. Make the first one: its columns fill below."
          )}
        </p>
      ) : (
        <ul className="entries seen-list">
          {payments.map((payment) => (
            <li key={payment.id}>
              <button
                type="button"
                className="entry"
                aria-pressed={payment.id === shown?.id}
                onClick={() => onSelect(payment.id)}
              >
                <Row payment={payment} read={payment.chain && amounts.get(payment.chain.event.digest)} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ payment: { own, chain }, read }: { readonly payment: SeenPayment; readonly read: bigint | undefined }) {
  const amount = own?.amount ?? read;
  return (
    <>
      <span className="entry-icon">
        <Icon name={own === undefined ? (read === undefined ? "hidden" : "merchant") : "wallet"} />
      </span>
      <span className="entry-what">
        <strong>{titleOf(own !== undefined, read !== undefined)}</strong>
        <span className="entry-subject soft small">
          {chain === undefined ? "Not on the chain yet" : `Block ${chain.event.blockNumber}${batchOf(chain)}`}
        </span>
      </span>
      <span className="entry-when">
        <Time at={chain === undefined ? (own?.at ?? 0) : chain.event.timestamp * 1000} clock />
      </span>
      <span className="entry-amount">
        {amount === undefined ? <span className="soft small">amount hidden</span> : <Amount value={amount} />}
      </span>
    </>
  );
}

function titleOf(own: boolean, read: boolean): string {
  if (own) return read ? "Your payment, read by the key" : "Your payment";
  return read ? "Read by the viewing key" : "A payment";
}

const batchOf = ({ place, batch }: { place: number; batch: number }): string =>
  batch === 1 ? "" : `, ${place + 1} of ${batch} in its transaction`;

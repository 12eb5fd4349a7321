import { useEffect, useState } from "react";
import { PoolNotices } from "../../components/pool-notices.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { Quote } from "../../engine/api.ts";
import { ChainValues } from "./chain-values.tsx";
import { Crowd } from "./crowd.tsx";
import { Game } from "./game-card.tsx";
import "./observer.css";
import { Parties } from "./parties.tsx";
import { PayCard } from "./pay-card.tsx";
import { PaymentList } from "./payment-list.tsx";
import type { Draft } from "./payments.ts";
import { type Observation, useObservation } from "./use-observation.ts";

/** What each party learns about a payment, live: the payer, the merchant, the service, and everyone who reads the chain. */
export default function ObserverPage() {
  const [draft, setDraft] = useState<Draft>();
  const seen = useObservation(draft);
  const [selected, select] = useState<string>();
  const { payments, feed } = seen;
  const newest = payments.find(({ own }) => own !== undefined) ?? payments[0];
  const shown = payments.find(({ id }) => id === selected) ?? newest;
  // A payment that this page made is not on a restarted chain.
  useEffect(() => {
    if (feed.restarted !== undefined) setDraft(undefined);
  }, [feed.restarted]);
  const pay = ({ price, merchant, url }: Quote) => {
    select(undefined);
    setDraft({ amount: price, at: Date.now(), counterparty: merchant, resource: url });
  };
  return (
    <div className="stack loose observer">
      <div className="page-head">
        <div>
          <h1>Observer</h1>
          <p>
            Who learns what of a payment? Each column below shows only what that party really has. Pay for something,
            and watch the columns fill.
          </p>
        </div>
      </div>
      <PoolNotices state={feed} />
      <div className="columns observer-top">
        <PaymentList
          payments={payments}
          shown={shown}
          following={selected === undefined || shown?.id !== selected}
          amounts={seen.amounts}
          reading={feed.phase !== "live"}
          onSelect={select}
        />
        <PayCard state={seen.engine} onPay={pay} onFail={() => setDraft(undefined)} />
      </div>
      <Parties payment={shown} seen={seen} />
      {shown?.chain !== undefined && <OnChain key={shown.id} payment={shown} seen={seen} />}
      <Game seen={seen} />
      <Limits />
    </div>
  );
}

function OnChain({ payment, seen }: { readonly payment: Observation["payments"][number]; readonly seen: Observation }) {
  if (payment.chain === undefined) return null;
  const call = seen.calls.get(payment.chain.transaction.hash);
  return (
    <>
      <ChainValues chain={payment.chain} transaction={call} seen={seen} />
      <Crowd chain={payment.chain} transaction={call} />
    </>
  );
}

/** Explains what the protocol does not hide. */
const Limits = () => (
  <section className="card stack" aria-labelledby="limits-title">
    <h2 id="limits-title">What is not hidden</h2>
    <ul className="bullets small">
      <li>
        <strong>Deposits and withdrawals.</strong> Their amounts and accounts are public. Depositing{" "}
        <Verbatim>12.345678</Verbatim> and withdrawing <Verbatim>12.345678</Verbatim> a minute later links both.
      </li>
      <li>
        <strong>Time.</strong> Everyone sees when a payment settles. In a quiet pool, time alone can say much.
      </li>
      <li>
        <strong>The network.</strong> The service and the merchant see the network addresses of their visitors. A proxy
        hides them.
      </li>
      <li>
        <strong>Small pools.</strong> A payment hides among the notes of its pool. A pool with three users hides little.
      </li>
    </ul>
  </section>
);

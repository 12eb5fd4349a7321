import { trimPasted } from "@sotto/protocol";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Form } from "../../components/form.tsx";
import { Icon } from "../../components/icon.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { PrepaidView, UnfinishedPayment, WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { HistoryTable } from "./history-table.tsx";
import { Unfinished } from "./unfinished.tsx";
import { type UnfinishedWithdrawal, UnfinishedWithdrawals } from "./unfinished-withdrawals.tsx";

const RECENT = 5;

interface Properties {
  readonly wallet: WalletView;
  onResume(payment: UnfinishedPayment): void;
  onResumeWithdrawal(withdrawal: UnfinishedWithdrawal): void;
}

export function Overview({ wallet, onResume, onResumeWithdrawal }: Properties) {
  const { balance, history, limits, prepaid, spentToday, unfinished, withdrawals } = wallet;
  const { merchants } = useConfig();
  const empty = balance.total === 0n && history.length === 0;
  return (
    <div className="columns">
      <div className="stack loose">
        <section className="card stack loose" aria-label="Balance">
          <div className="stack tight">
            <h2 className="soft">Balance</h2>
            <div data-testid="spendable">
              <Amount value={balance.spendable} large />
            </div>
            <p className="soft small" data-testid="arriving" role="status">
              {balance.arriving > 0n && (
                <span>
                  <Amount value={balance.arriving} /> arriving
                </span>
              )}
              {balance.arriving > 0n && balance.held > 0n && <span>, </span>}
              {balance.held > 0n && (
                <span>
                  <Amount value={balance.held} /> held by open payments
                </span>
              )}
              {balance.total === 0n && <span>No funds yet.</span>}
              {balance.total > 0n && balance.spendable === balance.total && <span>All of it is spendable.</span>}
            </p>
          </div>
          <div className="row">
            <Link href="/wallet/pay" className={empty ? "button" : "button primary"}>
              <Icon name="send" /> Pay
            </Link>
            <Link href="/wallet/add" className={empty ? "button primary" : "button"}>
              <Icon name="plus" /> Add funds
            </Link>
            <Link href="/wallet/receive" className="button">
              <Icon name="receive" /> Receive
            </Link>
            <Link href="/wallet/withdraw" className="button">
              <Icon name="out" /> Withdraw
            </Link>
          </div>
        </section>
        {unfinished.length > 0 && <Unfinished payments={unfinished} onResume={onResume} />}
        {withdrawals.length > 0 && <UnfinishedWithdrawals withdrawals={withdrawals} onResume={onResumeWithdrawal} />}
        <section className="card card-flush" aria-labelledby="recent">
          <header>
            <h2 id="recent">Recent</h2>
            {history.length > RECENT && <Link href="/wallet/history">{`All ${history.length}`}</Link>}
          </header>
          <HistoryTable entries={history.slice(0, RECENT)} empty="No payments yet. Add funds, then pay a merchant." />
        </section>
      </div>
      <div className="stack loose">
        <PayCard />
        {prepaid.length > 0 && <Tokens prepaid={prepaid} />}
        {merchants.length > 0 && <Merchants />}
        <section className="card stack" aria-labelledby="limits">
          <div className="row between">
            <h2 id="limits">Limits</h2>
            <Link href="/wallet/settings" className="small">
              Change
            </Link>
          </div>
          <dl className="facts">
            <dt>Per payment</dt>
            <dd>
              <Amount value={limits.maxPerRequest} />
            </dd>
            <dt>Per day</dt>
            <dd>
              <Amount value={limits.maxPerDay} />
            </dd>
            <dt>Spent today</dt>
            <dd data-testid="spent-today">
              <Amount value={spentToday} />
            </dd>
          </dl>
        </section>
      </div>
    </div>
  );
}

function PayCard() {
  const [url, setUrl] = useState("");
  const [, navigate] = useLocation();
  return (
    <section className="card stack" aria-labelledby="pay">
      <h2 id="pay">Pay for a page</h2>
      <Form className="stack" onSubmit={() => navigate(`/wallet/pay?url=${encodeURIComponent(url)}`)}>
        <input
          className="input"
          type="url"
          required
          aria-label="Address of the page"
          placeholder="https://"
          value={url}
          onChange={({ target }) => setUrl(trimPasted(target.value))}
        />
        <div className="row">
          <Button type="submit">See the price</Button>
          <Link href="/wallet/phone" className="small">
            Pay a phone number
          </Link>
        </div>
      </Form>
    </section>
  );
}

/** Prepaid tokens by merchant. */
function Tokens({ prepaid }: { readonly prepaid: readonly PrepaidView[] }) {
  const { busy, failure, run } = useAction();
  return (
    <section className="card stack" aria-labelledby="tokens">
      <h2 id="tokens">Prepaid tokens</h2>
      <ul className="lines">
        {prepaid.map(({ origin, unspent, underway, charged, requests, tokens, stopped }) => (
          <li key={origin}>
            <span>
              <Verbatim as="strong">{new URL(origin).host}</Verbatim>
              <span className="soft small">
                <span>{`${tokens} left,`}</span> <Amount value={unspent} />
              </span>
              {requests > 0 && (
                <span className="soft small">
                  <Amount value={charged} />{" "}
                  <span>{`charged for ${requests} request${requests === 1 ? "" : "s"}`}</span>
                </span>
              )}
              {underway > 0n && (
                <span className="soft small">
                  up to <Amount value={underway} /> on the way back
                </span>
              )}
              {stopped !== undefined && <span className="small">{`Stopped: ${stopped}`}</span>}
            </span>
            {underway > 0n && (
              <Button small busy={busy} onClick={() => run(() => engine().claimChange(origin))}>
                Ask for it
              </Button>
            )}
            {stopped !== undefined && (
              <span className="row">
                <Button small busy={busy} onClick={() => run(() => engine().decideTokens(origin, "resume"))}>
                  Use them again
                </Button>
                <Button small busy={busy} onClick={() => run(() => engine().decideTokens(origin, "drop"))}>
                  Give them up
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {failure !== undefined && <ErrorMessage error={failure} />}
    </section>
  );
}

function Merchants() {
  const { merchants } = useConfig();
  return (
    <section className="card stack" aria-labelledby="merchants">
      <h2 id="merchants">Merchants to try</h2>
      <ul className="lines">
        {merchants.map(({ name, url, price }) => (
          <li key={url}>
            <span>
              <strong>{name}</strong>
              <Verbatim className="soft small">{new URL(url).pathname}</Verbatim>
            </span>
            <Link href={`/wallet/pay?url=${encodeURIComponent(url)}`} className="button small">
              {price === undefined ? "Price" : <Amount value={price} />}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

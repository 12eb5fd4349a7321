import { useState } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Time } from "../../components/time.tsx";
import type { WalletView } from "../../engine/api.ts";
import { AddFundsDialog } from "./add-funds-dialog.tsx";
import { HistoryView } from "./history-view.tsx";
import { OriginsView } from "./origins-view.tsx";
import { Overview } from "./overview.tsx";
import { PayDialog } from "./pay-dialog.tsx";
import { PhoneDialog } from "./phone-dialog.tsx";
import { ReceiveDialog } from "./receive-dialog.tsx";
import { SettingsView } from "./settings-view.tsx";
import { ResumeDialog } from "./unfinished.tsx";
import { ResumeWithdrawalDialog, type UnfinishedWithdrawal } from "./unfinished-withdrawals.tsx";
import { WithdrawDialog } from "./withdraw-dialog.tsx";

const TABS = [
  { path: "/wallet", title: "Overview" },
  { path: "/wallet/history", title: "History" },
  { path: "/wallet/origins", title: "Origins" },
  { path: "/wallet/settings", title: "Settings" },
] as const;

/** How long the notice of a reorganization is shown, ms. */
const MENTION_MS = 120_000;

/** An open wallet: three views, and dialogs with routes of their own, so that links can open them. */
export function OpenWallet({ wallet }: { readonly wallet: WalletView }) {
  const [path, navigate] = useLocation();
  // The user agreed to the payment before the page was closed, so it resumes by itself.
  const [resumed, setResumed] = useState(() =>
    wallet.unfinished.find(({ state, resumable }) => state !== "stopped" && resumable),
  );
  const [withdrawal, setWithdrawal] = useState<UnfinishedWithdrawal>();
  const close = () => {
    setResumed(undefined);
    setWithdrawal(undefined);
    navigate("/wallet");
  };
  const { problem, reorganized } = wallet;
  return (
    <>
      <h1 className="hidden-text">Wallet</h1>
      <nav className="tabs" aria-label="Wallet">
        {TABS.map(({ path: tab, title }) => {
          const current =
            tab === "/wallet" ? TABS.every((other) => other.path === tab || other.path !== path) : path === tab;
          return (
            <Link key={tab} href={tab} aria-current={current ? "page" : undefined}>
              {title}
            </Link>
          );
        })}
      </nav>
      <div className="stack loose">
        {problem !== undefined && <ErrorMessage error={problem} tone="warn" />}
        {reorganized !== undefined && Date.now() - reorganized.at < MENTION_MS && (
          <div className="notice" data-tone="warn" role="status">
            <p>
              The chain replaced blocks at <Time at={reorganized.at} clock />.{" "}
              <span>{`The wallet has read its last ${reorganized.blocks} blocks again; the balance is up to date.`}</span>
            </p>
          </div>
        )}
        <Switch>
          <Route path="/wallet/history">
            <HistoryView history={wallet.history} />
          </Route>
          <Route path="/wallet/origins">
            <OriginsView origins={wallet.origins} />
          </Route>
          <Route path="/wallet/settings">
            <SettingsView wallet={wallet} />
          </Route>
          <Route>
            <Overview wallet={wallet} onResume={setResumed} onResumeWithdrawal={setWithdrawal} />
          </Route>
        </Switch>
      </div>
      {resumed !== undefined && <ResumeDialog payment={resumed} onClose={close} />}
      {withdrawal !== undefined && <ResumeWithdrawalDialog withdrawal={withdrawal} onClose={close} />}
      {resumed === undefined && withdrawal === undefined && <Dialogs wallet={wallet} onClose={close} />}
    </>
  );
}

function Dialogs({ wallet, onClose }: { readonly wallet: WalletView; onClose(): void }) {
  return (
    <Switch>
      <Route path="/wallet/pay">
        <PayDialog onClose={onClose} />
      </Route>
      <Route path="/wallet/phone">
        <PhoneDialog wallet={wallet} onClose={onClose} />
      </Route>
      <Route path="/wallet/receive">
        <ReceiveDialog address={wallet.address} onClose={onClose} />
      </Route>
      <Route path="/wallet/add">
        <AddFundsDialog wallet={wallet} onClose={onClose} />
      </Route>
      <Route path="/wallet/withdraw">
        <WithdrawDialog wallet={wallet} onClose={onClose} />
      </Route>
    </Switch>
  );
}

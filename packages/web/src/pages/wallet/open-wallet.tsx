import { Link, Route, Switch, useLocation } from "wouter";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Time } from "../../components/time.tsx";
import type { WalletView } from "../../engine/api.ts";
import { AddFundsDialog } from "./add-funds-dialog.tsx";
import { HistoryView } from "./history-view.tsx";
import { Overview } from "./overview.tsx";
import { PayDialog } from "./pay-dialog.tsx";
import { PhoneDialog } from "./phone-dialog.tsx";
import { ReceiveDialog } from "./receive-dialog.tsx";
import { SettingsView } from "./settings-view.tsx";
import { WithdrawDialog } from "./withdraw-dialog.tsx";

const TABS = [
  { path: "/wallet", title: "Overview" },
  { path: "/wallet/history", title: "History" },
  { path: "/wallet/settings", title: "Settings" },
] as const;

/** How long a reorganization is mentioned, ms. */
const MENTION_MS = 120_000;

/** An open wallet: three views, and dialogs that have routes, so that links can open them. */
export function OpenWallet({ wallet }: { readonly wallet: WalletView }) {
  const [path, navigate] = useLocation();
  const close = () => navigate("/wallet");
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
              The chain replaced {reorganized.blocks === 1 ? "its last block" : `its last ${reorganized.blocks} blocks`}{" "}
              at <Time at={reorganized.at} clock />. The wallet has read them again; the balance is right.
            </p>
          </div>
        )}
        <Switch>
          <Route path="/wallet/history">
            <HistoryView history={wallet.history} />
          </Route>
          <Route path="/wallet/settings">
            <SettingsView wallet={wallet} />
          </Route>
          <Route>
            <Overview wallet={wallet} />
          </Route>
        </Switch>
      </div>
      <Switch>
        <Route path="/wallet/pay">
          <PayDialog onClose={close} />
        </Route>
        <Route path="/wallet/phone">
          <PhoneDialog wallet={wallet} onClose={close} />
        </Route>
        <Route path="/wallet/receive">
          <ReceiveDialog address={wallet.address} onClose={close} />
        </Route>
        <Route path="/wallet/add">
          <AddFundsDialog wallet={wallet} onClose={close} />
        </Route>
        <Route path="/wallet/withdraw">
          <WithdrawDialog wallet={wallet} onClose={close} />
        </Route>
      </Switch>
    </>
  );
}

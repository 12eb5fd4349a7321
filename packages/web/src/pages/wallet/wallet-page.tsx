import { useEngine } from "../../engine/page.ts";
import { Elsewhere, Failed, Opening, Replaced } from "./gates.tsx";
import { OpenWallet } from "./open-wallet.tsx";
import { Unlock } from "./unlock.tsx";
import { Welcome } from "./welcome.tsx";

/** The wallet's page, which depends on the engine's phase. */
export default function WalletPage() {
  const state = useEngine();
  switch (state.phase) {
    case "starting":
      return (
        <div className="empty" role="status">
          <span className="spinner" /> Starting the wallet
        </div>
      );
    case "elsewhere":
      return <Elsewhere since={state.since} />;
    case "empty":
      return <Welcome />;
    case "locked":
      return <Unlock />;
    case "opening":
      return <Opening progress={state.progress} />;
    case "replaced":
      return <Replaced failure={state.failure} />;
    case "failed":
      return <Failed failure={state.failure} />;
    case "open":
      return <OpenWallet wallet={state.wallet} />;
  }
}

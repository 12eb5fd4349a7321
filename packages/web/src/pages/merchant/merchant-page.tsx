import { useEffect } from "react";
import { Button } from "../../components/button.tsx";
import { ChainNotices } from "../../components/chain-notices.tsx";
import { Hash } from "../../components/hash.tsx";
import { merchantDesk, useMerchant } from "../../engine/merchant.ts";
import "../../styles/views.css";
import "./merchant.css";
import { Income } from "./income.tsx";
import { OpenKey } from "./open-key.tsx";
import { Payments } from "./payments.tsx";
import { ReceiptCheck } from "./receipt-check.tsx";
import { RouteCheck } from "./route-check.tsx";

export default function MerchantPage() {
  const state = useMerchant();
  const { phase, shieldedAddress, problem, reorganized, restarted, progress } = state;
  // Leaving the page removes the key from memory.
  useEffect(() => () => void merchantDesk().close(), []);
  return (
    <>
      <title>Merchant · sotto</title>
      <div className="page-head">
        <div>
          <h1>Merchant</h1>
          <p>Payments to your address. The chain shows no amounts; your viewing key opens them, in this tab only.</p>
        </div>
        {shieldedAddress !== undefined && (
          <div className="row">
            <Hash value={shieldedAddress} name="shielded address" />
            <Button small onClick={() => void merchantDesk().close()}>
              Close and forget the key
            </Button>
          </div>
        )}
      </div>
      <div className="stack loose">
        <ChainNotices {...{ problem, reorganized, restarted }} stale={phase === "open"} />
        {phase === "closed" && <OpenKey />}
        {phase === "reading" && (
          <div className="card stack tight" role="status">
            <p>
              <span className="spinner" />{" "}
              <span>{problem === undefined ? "Reading the pool" : "Waiting for the node"}</span>
            </p>
            {progress !== undefined && (
              <progress max={progress.height} value={progress.block} aria-label="Blocks that were read" />
            )}
          </div>
        )}
        {phase === "open" && (
          <>
            <Income state={state} />
            <Payments received={state.received} />
          </>
        )}
        <div className="halves">
          <ReceiptCheck />
          <RouteCheck />
        </div>
      </div>
    </>
  );
}

import { useEffect } from "react";
import { Button } from "../../components/button.tsx";
import { ChainNotices } from "../../components/chain-notices.tsx";
import { merchantDesk, useMerchant } from "../../engine/merchant.ts";
import { describeAddresses } from "../../engine/merchant-api.ts";
import "../../styles/views.css";
import "./merchant.css";
import { EvidenceCheck } from "./evidence-check.tsx";
import { Income } from "./income.tsx";
import { Months } from "./months.tsx";
import { OpenKey } from "./open-key.tsx";
import { Payments } from "./payments.tsx";
import { ReceiptCheck } from "./receipt-check.tsx";
import { RouteCheck } from "./route-check.tsx";

export default function MerchantPage() {
  const state = useMerchant();
  const { phase, months, problem, reorganized, restarted, progress } = state;
  // Leaving the page removes the keys from memory.
  useEffect(() => () => void merchantDesk().close(), []);
  return (
    <>
      <title>Merchant · sotto</title>
      <div className="page-head">
        <div>
          <h1>Merchant</h1>
          <p>Payments to your addresses. The chain shows no amounts; your viewing keys open them, in this tab only.</p>
        </div>
        {phase !== "closed" && (
          <div className="row">
            <span>{`Keys of ${describeAddresses(months)}`}</span>
            <Button small onClick={() => void merchantDesk().close()}>
              Close and forget the keys
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
            <Months state={state} />
            <Payments received={state.received} months={months} />
          </>
        )}
        <div className="halves">
          <ReceiptCheck />
          <EvidenceCheck />
          <RouteCheck />
        </div>
      </div>
    </>
  );
}

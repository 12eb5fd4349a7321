import { useState } from "react";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Figure, Figures } from "../../components/figure.tsx";
import { Hash } from "../../components/hash.tsx";
import { Time } from "../../components/time.tsx";
import { poolFeed, usePoolFeed } from "../../engine/pool-feed.ts";
import type { FeedState, PoolSummary } from "../../engine/pool-feed-api.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatAge, formatCount, formatNumberOf } from "../../lib/age.ts";
import "../../styles/views.css";
import "./pool.css";
import { Activity } from "./activity.tsx";
import { Contracts } from "./contracts.tsx";
import { GasChart } from "./gas-chart.tsx";
import { NoteList } from "./note-list.tsx";
import { Queue } from "./queue.tsx";
import { Search } from "./search.tsx";
import { TransactionDialog } from "./transaction-dialog.tsx";

export default function PoolPage() {
  const config = useConfig();
  const state = usePoolFeed(config);
  const [shown, setShown] = useState<string>();
  const { summary } = state;
  return (
    <>
      <title>Pool · sotto</title>
      <div className="page-head">
        <div>
          <h1>Pool</h1>
          <p>
            All that the chain shows of this pool. Commitments and nullifiers are public; owners and amounts of payments
            are not.
          </p>
        </div>
        <Hash value={config.deployment.pool} name="pool's address" />
      </div>
      <div className="stack loose">
        <Notices state={state} />
        {summary === undefined ? (
          state.problem === undefined && (
            <div className="empty card" role="status">
              <span className="spinner" /> Reading the pool from the node
            </div>
          )
        ) : (
          <>
            <Totals summary={summary} />
            <Search onOpen={setShown} />
            <Activity summary={summary} />
            <div className="halves">
              <GasChart summary={summary} />
              <Queue summary={summary} />
            </div>
            <NoteList summary={summary} onOpen={setShown} />
          </>
        )}
        <Contracts />
      </div>
      {shown !== undefined && <TransactionDialog hash={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Notices({ state }: { readonly state: FeedState }) {
  const { phase, summary, height, problem, reorganized, restarted, uncached } = state;
  return (
    <>
      {problem !== undefined && (
        <ErrorMessage error={problem} tone={summary === undefined ? "bad" : "warn"}>
          <button type="button" className="button secondary small" onClick={() => void poolFeed().refresh()}>
            Try again now
          </button>
        </ErrorMessage>
      )}
      {restarted !== undefined && (
        <p className="notice" data-tone="warn" role="status">
          The chain was started again at <Time at={restarted} clock />. This page shows the new chain.
        </p>
      )}
      {reorganized !== undefined && (
        <p className="notice" role="status">
          A reorganization replaced the last {reorganized.blocks} blocks at <Time at={reorganized.at} clock />. The
          numbers below are of the new chain.
        </p>
      )}
      {uncached !== undefined && <ErrorMessage error={uncached} tone="warn" />}
      {phase === "reading" && summary !== undefined && height !== undefined && (
        <div className="notice" role="status">
          <p>
            Reading block {formatCount(summary.block.number)} of {formatCount(height)}
          </p>
          <progress max={height} value={summary.block.number} aria-label="Blocks that were read" />
        </div>
      )}
    </>
  );
}

/** An append must cover checkpoints of this age, seconds: NoteTree.APPEND_GRACE. */
const LATE_SECONDS = 120;

function Totals({ summary }: { readonly summary: PoolSummary }) {
  const now = useNow() / 1000;
  const { notes, inTree, spent, payments, deposits, withdrawals, lastAppend, checkpoints, block } = summary;
  const oldest = checkpoints[0];
  const late = oldest !== undefined && now - oldest.timestamp > LATE_SECONDS;
  return (
    <Figures>
      <Figure
        name="Crowd"
        value={formatCount(inTree - spent)}
        note="possible sources of a payment: unspent notes, at most"
      />
      <Figure name="Notes" value={formatCount(notes)} note={`${formatCount(inTree)} in the tree`} />
      <Figure
        name="Queue"
        value={formatCount(notes - inTree)}
        tone={late ? "warn" : undefined}
        note={oldest === undefined ? "no note is waiting" : `oldest has waited ${formatAge(now - oldest.timestamp)}`}
      />
      <Figure name="Payments" value={formatCount(payments)} note={formatNumberOf(spent, "nullifier")} />
      <Figure
        name="Deposits"
        value={formatCount(deposits)}
        note={`${formatCount(withdrawals)} withdrawals and merges`}
      />
      <Figure
        name="Block"
        value={formatCount(block.number)}
        note={lastAppend === undefined ? "no append yet" : `last append ${formatAge(now - lastAppend.timestamp)} ago`}
      />
    </Figures>
  );
}

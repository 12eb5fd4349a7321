import { useState } from "react";
import { Figure, Figures } from "../../components/figure.tsx";
import { Hash } from "../../components/hash.tsx";
import { PoolNotices } from "../../components/pool-notices.tsx";
import { usePoolFeed } from "../../engine/pool-feed.ts";
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
            Everything that the chain shows about this pool. Commitments and nullifiers are public; owners and amounts
            of payments are not.
          </p>
        </div>
        <Hash value={config.deployment.pool} name="pool's address" />
      </div>
      <div className="stack loose">
        <PoolNotices state={state} />
        <Reading {...state} />
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
              <GasChart summary={summary} quiet={state.problem !== undefined} />
              <Queue summary={summary} />
            </div>
            <NoteList summary={summary} onOpen={setShown} />
          </>
        )}
        <Contracts chain={state.restarted} quiet={state.problem !== undefined} />
      </div>
      {shown !== undefined && <TransactionDialog hash={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Reading({ phase, summary, height }: FeedState) {
  if (phase !== "reading" || summary === undefined || height === undefined) return null;
  return (
    <div className="notice" role="status">
      <p>{`Reading block ${formatCount(summary.block.number)} of ${formatCount(height)}`}</p>
      <progress max={height} value={summary.block.number} aria-label="Blocks that were read" />
    </div>
  );
}

/** The queue is marked as late if its oldest note has waited longer, seconds. By default, a service appends after 30. */
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

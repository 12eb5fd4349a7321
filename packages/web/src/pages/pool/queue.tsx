import { Hash } from "../../components/hash.tsx";
import { Table } from "../../components/table.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { AppendRow, PoolSummary } from "../../engine/pool-feed-api.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatAge, formatCount } from "../../lib/age.ts";

const MAX_ROWS = 4;
const NO_APPENDS: readonly AppendRow[] = [];

/** The pending checkpoints and the latest appends. */
export function Queue({ summary }: { readonly summary: PoolSummary }) {
  const now = useNow() / 1000;
  const { checkpoints } = summary;
  const { value: appends = NO_APPENDS } = useAnswer(`${summary.history} ${summary.appends}`, () =>
    poolFeed().appends(MAX_ROWS),
  );
  return (
    <section className="card card-flush">
      <header>
        <h2>Queue and appends</h2>
        <span className="state" data-tone={checkpoints.length === 0 ? "good" : "warn"}>
          {checkpoints.length === 0
            ? "all notes are in the tree"
            : `${formatCount(checkpoints.length)} ${checkpoints.length === 1 ? "checkpoint waits" : "checkpoints wait"}`}
        </span>
      </header>
      <Table caption="Waiting checkpoints, then the last appends" columns={["Leaves", "State", ">Age"]}>
        {checkpoints.slice(0, MAX_ROWS).map(({ start, leaves, timestamp }) => (
          <tr key={`checkpoint ${start}`}>
            <td className="number">{rangeOf(start, leaves)}</td>
            <td>
              <span className="state" data-tone="warn">
                waiting for an append
              </span>
            </td>
            <td className="right number">{formatAge(now - timestamp)}</td>
          </tr>
        ))}
        {appends.map(({ start, count, transactionHash, timestamp }) => (
          <tr key={`append ${start}`}>
            <td className="number">{rangeOf(start, count)}</td>
            <td>
              appended by <Hash value={transactionHash} name="transaction" />
            </td>
            <td className="right number">{formatAge(now - timestamp)}</td>
          </tr>
        ))}
      </Table>
      {checkpoints.length + appends.length === 0 && <p className="empty">The pool has no notes yet.</p>}
    </section>
  );
}

const rangeOf = (start: number, count: number): string =>
  count === 1 ? formatCount(start) : `${formatCount(start)}–${formatCount(start + count - 1)}`;

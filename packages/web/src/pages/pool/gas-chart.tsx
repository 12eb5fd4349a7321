import { useMemo } from "react";
import { Chart } from "../../components/chart.tsx";
import type { Series } from "../../components/chart-data.ts";
import { ErrorMessage } from "../../components/error-message.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { GasPoint, PoolSummary } from "../../engine/pool-feed-api.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { formatCount, formatNumberOf } from "../../lib/age.ts";

const TRANSACTIONS = 500;
const NO_POINTS: readonly GasPoint[] = [];

const perPayment = ({ gasUsed, payments }: GasPoint): number => Number(gasUsed) / payments;

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

interface Properties {
  readonly summary: PoolSummary;
  /** Whether the page already reports that the chain cannot be read. */
  readonly quiet: boolean;
}

/** Gas per settled payment, from the receipts of the latest transactions. */
export function GasChart({ summary, quiet }: Properties) {
  // Depends on the number of payments, not on the revision: a new block without payments adds no receipts.
  const { value: points = NO_POINTS, failure } = useAnswer(`${summary.history} ${summary.payments}`, () =>
    poolFeed().gas(TRANSACTIONS),
  );
  const chart = useMemo(() => {
    const series: Series[] = [
      { name: "Gas per payment", kind: "points", colour: "--accent", values: points.map(perPayment) },
    ];
    return { times: points.map(({ timestamp }) => timestamp), series, unit: "gas" };
  }, [points]);
  const median = Math.round(medianOf(points.map(perPayment)));
  const label = `Median of the last ${formatNumberOf(points.length, "settlement")}: ${formatCount(median)} gas per payment.`;
  return (
    <section className="card">
      <header>
        <h2>Gas per payment</h2>
      </header>
      {failure !== undefined && !quiet && <ErrorMessage error={failure} tone="warn" />}
      {points.length === 0 ? (
        <p className="empty">No payment has been settled yet.</p>
      ) : (
        <>
          <p className="soft small">{label}</p>
          <Chart {...chart} label={label} />
        </>
      )}
    </section>
  );
}

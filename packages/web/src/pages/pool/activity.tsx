import { useMemo, useState } from "react";
import { Chart, Legend } from "../../components/chart.tsx";
import type { Series } from "../../components/chart-data.ts";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Segments } from "../../components/segments.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { HourCounts, PoolSummary } from "../../engine/pool-feed-api.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { formatCount, formatNumberOf } from "../../lib/age.ts";

const PERIODS = { day: "24 hours", week: "7 days", month: "30 days" } as const;
const HOURS = { day: 24, week: 168, month: 720 } as const;
const NO_HOURS: readonly HourCounts[] = [];

/** Nullifiers and notes per hour. */
export function Activity({ summary }: { readonly summary: PoolSummary }) {
  const [period, setPeriod] = useState<keyof typeof PERIODS>("day");
  const { value: hours = NO_HOURS, failure } = useAnswer(`${period} ${summary.revision}`, () =>
    poolFeed().hours(HOURS[period]),
  );
  const chart = useMemo(() => {
    const series: Series[] = [
      { name: "New notes", kind: "points", colour: "--warn", values: hours.map(({ notes }) => notes) },
      { name: "Nullifiers", kind: "bars", colour: "--accent", values: hours.map(({ nullifiers }) => nullifiers) },
    ];
    return { times: hours.map(({ start }) => start), series, unit: "an hour" };
  }, [hours]);
  const sum = (of: (hour: HourCounts) => number) => hours.reduce((total, hour) => total + of(hour), 0);
  const counts = [
    formatNumberOf(
      sum(({ nullifiers }) => nullifiers),
      "nullifier",
    ),
    formatNumberOf(
      sum(({ notes }) => notes),
      "new note",
    ),
    formatNumberOf(
      sum(({ payments }) => payments),
      "payment",
    ),
  ];
  const idle = hours.length > 0 && sum(({ notes, nullifiers }) => notes + nullifiers) === 0;
  const label = `Per hour, in the last ${PERIODS[period]}: ${counts.join(", ")}.`;
  return (
    <section className="card">
      <header>
        <h2>Activity per hour</h2>
        <Segments label="Period" options={PERIODS} value={period} onChange={setPeriod} />
      </header>
      {failure !== undefined && <ErrorMessage error={failure} />}
      {idle ? (
        <p className="empty">{`Nothing happened in the last ${PERIODS[period]}.`}</p>
      ) : (
        <>
          <Legend series={chart.series} />
          <Chart {...chart} label={label} />
        </>
      )}
      <details className="more">
        <summary>As a table</summary>
        <Table caption={label} columns={["Hour", ">Nullifiers", ">New notes", ">Payments", ">Deposits", ">Appends"]}>
          {hours
            .filter(({ notes, appends, nullifiers }) => notes + appends + nullifiers > 0)
            .map((hour) => (
              <tr key={hour.start}>
                <td>
                  <Time at={hour.start * 1000} />
                </td>
                {[hour.nullifiers, hour.notes, hour.payments, hour.deposits, hour.appends].map((count, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns never change.
                  <td key={i} className="right number">
                    {formatCount(count)}
                  </td>
                ))}
              </tr>
            ))}
        </Table>
      </details>
    </section>
  );
}

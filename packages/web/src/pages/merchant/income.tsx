import type { Received } from "@sotto/wallet";
import { useMemo, useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Chart } from "../../components/chart.tsx";
import type { Series } from "../../components/chart-data.ts";
import { Figure, Figures } from "../../components/figure.tsx";
import { Segments } from "../../components/segments.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import type { MerchantState } from "../../engine/merchant-api.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatCount, formatNumberOf } from "../../lib/age.ts";
import { formatAmount } from "../../lib/amount.ts";
import { type Period, type PeriodSum, sumByPeriod } from "../../lib/sums.ts";

const PERIODS = { hour: "By hour", day: "By day" } as const;
const COUNTS = { hour: 24, day: 30 } as const;
const HOUR_MS = 3_600_000;

const total = (sums: readonly PeriodSum[]): bigint => sums.reduce((sum, { amount }) => sum + amount, 0n);
const isPending = ({ origin, confirmed }: Received): boolean => origin === "payment" && !confirmed;

/** Sums of the payments, and their chart by hour and day (UTC). */
export function Income({ state: { received, total: confirmed } }: { readonly state: MerchantState }) {
  const [period, setPeriod] = useState<Period>("hour");
  // The sums change with the hour, not with each second.
  const hour = Math.floor(useNow() / HOUR_MS);
  const { day, sums, payments, pending } = useMemo(() => {
    const now = (hour * HOUR_MS) / 1000;
    return {
      day: sumByPeriod(received, "day", 1, now),
      sums: sumByPeriod(received, period, COUNTS[period], now),
      payments: received.filter(({ origin }) => origin === "payment").length,
      pending: received.filter(isPending).length,
    };
  }, [received, period, hour]);
  const chart = useMemo(() => {
    const values = sums.map(({ amount }) => Number(amount) / 1e6);
    const series: Series[] = [{ name: "Received", kind: "bars", colour: "--accent", values }];
    return { times: sums.map(({ start }) => start), series, unit: "USDC" };
  }, [sums]);
  const title = `Received in the last ${COUNTS[period]} ${period}s (UTC)`;
  const label = `${title}: ${formatAmount(total(sums))} USDC.`;
  return (
    <>
      <Figures>
        <Figure name="Confirmed, all time" value={<Amount value={confirmed} />} note="payments" />
        <Figure
          name="Today (UTC)"
          value={<Amount value={total(day)} />}
          note={formatNumberOf(day[0]?.payments ?? 0, "payment")}
        />
        <Figure
          name="Payments"
          value={formatCount(payments)}
          note={pending === 0 ? "all confirmed" : `${formatCount(pending)} not confirmed yet`}
        />
      </Figures>
      <section className="card">
        <header>
          <h2>Received</h2>
          <Segments label="Period" options={PERIODS} value={period} onChange={setPeriod} />
        </header>
        <p className="soft small">
          <span>{`${title}:`}</span> <Amount value={total(sums)} />
        </p>
        {total(sums) > 0n && <Chart {...chart} label={label} />}
        <details className="more">
          <summary>As a table</summary>
          <Table caption={title} columns={["Begins", ">Payments", ">Amount"]}>
            {sums
              .filter(({ payments: count }) => count > 0)
              .map(({ start, payments: count, amount }) => (
                <tr key={start}>
                  <td>
                    <Time at={start * 1000} />
                  </td>
                  <td className="right number">{formatCount(count)}</td>
                  <td className="right">
                    <Amount value={amount} />
                  </td>
                </tr>
              ))}
          </Table>
        </details>
      </section>
    </>
  );
}

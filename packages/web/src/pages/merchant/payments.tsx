import type { Month } from "@sotto/protocol";
import { useMemo, useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Icon } from "../../components/icon.tsx";
import { Select } from "../../components/select.tsx";
import { Time } from "../../components/time.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import { filtered, type MonthFilter, type ShownPayment } from "../../engine/merchant-api.ts";
import { useAction } from "../../hooks/use-action.ts";
import { saveText, today } from "../../lib/save.ts";

const ROW_HEIGHT = 64;
const MAX_HEIGHT = 448;

const optionsOf = (months: readonly (Month | undefined)[]): ReadonlyMap<MonthFilter, string> =>
  new Map<MonthFilter, string>([
    ["all", "All"],
    ...months
      .toReversed()
      .map((month): [MonthFilter, string] => (month === undefined ? ["lasting", "Lasting address"] : [month, month])),
  ]);

/** What was received, and to which address. */
function titleOf({ origin, month, isOutsideMonth }: ShownPayment): string {
  if (origin === "deposit") return "Deposit";
  if (month === undefined) return "Payment";
  return isOutsideMonth ? `Payment to ${month}, found later` : `Payment to ${month}`;
}

interface Properties {
  readonly received: readonly ShownPayment[];
  /** The months that the keys open. */
  readonly months: readonly (Month | undefined)[];
}

/** The payments as they arrive, newest first. */
export function Payments({ received, months }: Properties) {
  const [filter, setFilter] = useState<MonthFilter>("all");
  const options = useMemo(() => optionsOf(months), [months]);
  const newest = useMemo(() => filtered(received, filter).toReversed(), [received, filter]);
  const { busy, failure, run } = useAction();
  const save = async () => saveText(`sotto-received-${today()}.csv`, "text/csv", await merchantDesk().csv(filter));
  return (
    <section className="card card-flush">
      <header>
        <h2>Payments</h2>
        <div className="row">
          <Select label="Month" options={options} value={filter} onChange={setFilter} />
          <Button small busy={busy} disabled={newest.length === 0} onClick={() => run(save)}>
            <Icon name="save" /> Export CSV
          </Button>
        </div>
      </header>
      {failure !== undefined && <ErrorMessage error={failure} />}
      {newest.length === 0 ? (
        <p className="empty">
          {filter === "all"
            ? "No payment yet. New ones appear here as soon as they are on the chain."
            : "No payment to this address yet."}
        </p>
      ) : (
        <VirtualList
          items={newest}
          rowHeight={ROW_HEIGHT}
          height={Math.min(MAX_HEIGHT, newest.length * ROW_HEIGHT)}
          label="Received, newest first"
          keyOf={({ leafIndex }) => String(leafIndex)}
        >
          {(payment) => (
            <div className="received">
              <span className="received-what">
                <span>{titleOf(payment)}</span>
                <Hash value={payment.transactionHash} name="transaction" />
              </span>
              <span className="received-when">
                <Time at={payment.timestamp * 1000} />
                <span className="state" data-tone={payment.confirmed ? "good" : "warn"}>
                  {payment.confirmed ? "confirmed" : "waits for confirmations"}
                </span>
              </span>
              <strong>
                <Amount value={payment.amount} direction="in" />
              </strong>
            </div>
          )}
        </VirtualList>
      )}
    </section>
  );
}

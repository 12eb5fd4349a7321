import { describeMonths, type Month } from "@sotto/protocol";
import { useMemo } from "react";
import { Amount } from "../../components/amount.tsx";
import { Table } from "../../components/table.tsx";
import type { MerchantState } from "../../engine/merchant-api.ts";
import { formatCount, formatNumberOf } from "../../lib/age.ts";
import { sumByMonth } from "../../lib/sums.ts";

const nameOf = (month: Month | undefined): string => month ?? "Lasting address";

/** The income of each address that the keys open, and what the page covers and cannot know. */
export function Months({ state: { received, months, opened, isSearched } }: { readonly state: MerchantState }) {
  // The newest month first, and the lasting address last.
  const sums = useMemo(() => sumByMonth(received, months.toReversed()), [received, months]);
  const paid = sums.filter(({ payments }) => payments > 0);
  const unpaid = sums.filter(({ payments }) => payments === 0);
  const unpaidMonths = unpaid.flatMap(({ month }) => (month === undefined ? [] : [month])).reverse();
  const none = describeMonths(unpaidMonths, unpaid.length > unpaidMonths.length);
  const outside = received.filter(({ isOutsideMonth }) => isOutsideMonth).length;
  return (
    <section className="card stack">
      <h2>By month</h2>
      {paid.length > 0 && (
        <Table caption="Received by month" columns={["Address of", ">Payments", ">Received"]}>
          {paid.map(({ month, payments, amount }) => (
            <tr key={nameOf(month)}>
              <td>{nameOf(month)}</td>
              <td className="right number">{formatCount(payments)}</td>
              <td className="right">
                <Amount value={amount} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {none !== "" && <p className="soft small">{`No payment to ${none}.`}</p>}
      <div className="stack tight small">
        <p>{`This page covers ${opened ?? "nothing"}.`}</p>
        <p>
          {isSearched
            ? `It lists every payment to these addresses, with ${formatNumberOf(outside, "payment")} outside the month of the address.`
            : "It is still looking for payments outside the month of their address."}
        </p>
        <p>{"It cannot know:"}</p>
        <ul>
          <li>
            {months.includes(undefined)
              ? "payments to addresses of other months, and to other wallets"
              : "payments to addresses of other months, to the lasting address, and to other wallets"}
          </li>
          <li>{"whether payers were sent to an address whose key is missing here"}</li>
          <li>{"what the wallet spends"}</li>
        </ul>
      </div>
    </section>
  );
}

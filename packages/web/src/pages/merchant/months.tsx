import type { Month } from "@sotto/protocol";
import { useMemo } from "react";
import { Amount } from "../../components/amount.tsx";
import { Table } from "../../components/table.tsx";
import { describeAddresses, type MerchantState } from "../../engine/merchant-api.ts";
import { formatCount } from "../../lib/age.ts";
import { sumByMonth } from "../../lib/sums.ts";

const nameOf = (month: Month | undefined): string => month ?? "Lasting address";

/** The income of each address that the keys open, and what the page covers and cannot know. */
export function Months({ state: { received, months, isSearched } }: { readonly state: MerchantState }) {
  // The newest month first, and the lasting address last.
  const sums = useMemo(() => sumByMonth(received, months.toReversed()), [received, months]);
  const paid = sums.filter(({ payments }) => payments > 0);
  const unpaid = sums.filter(({ payments }) => payments === 0).map(({ month }) => month);
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
      {unpaid.length > 0 && (
        <p className="soft small">{`Nothing was paid to the addresses of: ${describeAddresses(unpaid.toReversed())}.`}</p>
      )}
      <div className="stack tight small">
        <p>{`This page covers ${describeAddresses(months)}.`}</p>
        <p>
          {isSearched
            ? `It lists every payment to these addresses, also those that settled outside the month of their address: ${formatCount(outside)}.`
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

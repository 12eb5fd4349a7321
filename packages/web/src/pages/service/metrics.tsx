import { Figure, Figures } from "../../components/figure.tsx";
import { Table } from "../../components/table.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { formatCount, formatShort } from "../../lib/age.ts";
import { latenciesOf, type Sample, sumOf } from "../../lib/metrics.ts";

const MAX_ROUTES = 12;
const WEI = 1e18;
const HISTOGRAM = "sotto_http_request_seconds";

const coins = (wei: number | undefined) => <Verbatim>{wei === undefined ? "–" : (wei / WEI).toPrecision(4)}</Verbatim>;
const count = (value: number | undefined): string => (value === undefined ? "–" : formatCount(value));

function time(seconds: number): string {
  if (seconds === Number.POSITIVE_INFINITY) return "> 60 s";
  return seconds < 1 ? `≤ ${Math.round(seconds * 1000)} ms` : `≤ ${seconds} s`;
}

/** Figures from the metrics endpoint. @param samples undefined if the endpoint is not public */
export function Metrics({ samples }: { readonly samples: readonly Sample[] | undefined }) {
  if (samples === undefined)
    return (
      <section className="card stack tight">
        <h2>Metrics</h2>
        <p className="soft small">
          The service does not publish its metrics to this page. That is the default: a proxy forwards the base path
          only, and the operator's own monitoring reads <code>/metrics</code>.
        </p>
      </section>
    );
  const of = (name: string) => sumOf(samples, `sotto_${name}`);
  const leader = of("relayer_leader");
  const latencies = latenciesOf(samples, HISTOGRAM);
  return (
    <>
      <Figures>
        <Figure
          name="Leader"
          value={leader === undefined ? "–" : leader === 1 ? "this replica" : "another"}
          note="one replica sends transactions"
        />
        <Figure name="Queued" value={count(of("relayer_queued"))} note="operations waiting to be sent" />
        <Figure name="Broadcast" value={count(of("relayer_broadcast"))} note="operations waiting for their block" />
        <Figure name="Notes in the queue" value={count(of("relayer_queued_notes"))} note="not spendable yet" />
        <Figure name="Held requests" value={count(of("settle_held"))} note="clients waiting for an outcome" />
        <Figure name="Balance" value={coins(of("relayer_balance_wei"))} note="native coin, for gas" />
        <Figure name="Gas today" value={coins(of("relayer_gas_today_wei"))} note="native coin (UTC day)" />
        <Figure name="Settled" value={count(of("relayer_settled_total") ?? 0)} note="since the last start" />
      </Figures>
      <div className="halves">
        <section className="card card-flush">
          <header>
            <h2>Latencies</h2>
            <span className="soft small">since the last start</span>
          </header>
          <Table caption="Latencies by route" columns={["Route", ">Requests", ">Median", ">95 %"]}>
            {latencies.slice(0, MAX_ROUTES).map(({ route, requests, median, p95 }) => (
              <tr key={route}>
                <td>
                  <Verbatim as="code">{route}</Verbatim>
                </td>
                <td className="right number">{formatShort(requests)}</td>
                <td className="right number">{time(median)}</td>
                <td className="right number">{time(p95)}</td>
              </tr>
            ))}
          </Table>
        </section>
        <section className="card card-flush">
          <header>
            <h2>Outcomes</h2>
            <span className="soft small">since the last start</span>
          </header>
          <Table caption="Outcomes" columns={["Outcome", ">Count"]}>
            {outcomesOf(samples).map(({ name, value }) => (
              <tr key={name}>
                <td>{name}</td>
                <td className="right number">{formatCount(value)}</td>
              </tr>
            ))}
          </Table>
        </section>
      </div>
    </>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  sotto_verify_total: "verified",
  sotto_settle_answers_total: "settle answered",
  sotto_relayer_transactions_total: "transaction",
  sotto_relayer_failed_total: "failed",
  sotto_relayer_replacements_total: "replaced",
  sotto_relayer_reorganisations_total: "reorganization",
  sotto_relayer_errors_total: "error",
};

function outcomesOf(samples: readonly Sample[]): { name: string; value: number }[] {
  return samples.flatMap(({ name, labels, value }) => {
    const title = OUTCOMES[name];
    return title === undefined ? [] : [{ name: [title, ...Object.values(labels)].join(" · "), value }];
  });
}

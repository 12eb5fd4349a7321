import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { ServiceStatus } from "../../lib/service-status.ts";

/** What each check examines, and what its failure means for payments. */
const CHECKS: Readonly<Record<string, { title: string; ok: string; bad: string }>> = {
  chain: { title: "Chain", ok: "A node answers.", bad: "No node answers: nothing can be verified or settled." },
  store: { title: "Database", ok: "It answers.", bad: "It does not answer: payments are refused, none is lost." },
  artifacts: {
    title: "Circuit files",
    ok: "All files are present and undamaged.",
    bad: "A file is missing or damaged: wallets cannot download it.",
  },
  head: {
    title: "Newest block",
    ok: "It is recent.",
    bad: "It is too old: the node or the chain has stalled.",
  },
  fees: {
    title: "Gas price",
    ok: "It is within the service's limit.",
    bad: "It is above the service's limit: settlement waits until gas is cheaper.",
  },
  signer: {
    title: "Signer",
    ok: "It signs the relayer's transactions.",
    bad: "It does not sign: queued payments wait.",
  },
  relayer: {
    title: "Relayer's balance",
    ok: "It is enough for gas.",
    bad: "It is too low: the operator has to top up the relayer's account.",
  },
  budget: {
    title: "Gas budget",
    ok: "Today's budget is not exhausted.",
    bad: "Today's budget is exhausted: settlement resumes tomorrow, or when the operator raises it.",
  },
  leader: {
    title: "Leader",
    ok: "A replica leads and reads the chain.",
    bad: "No replica has finished a round recently: queued payments wait.",
  },
  phone: {
    title: "Phone registry",
    ok: "It answers.",
    bad: "It does not answer: phone numbers cannot be looked up or linked.",
  },
};

interface Properties {
  readonly status: ServiceStatus;
  /** Time of the service's response, ms. */
  readonly at: number;
  /** Whether a later request failed. */
  readonly stale: boolean;
}

/** Each check with its reason. */
export function Checks({ status: { ready, checks, elapsed }, at, stale }: Properties) {
  const failed = checks.filter(({ ok }) => !ok).length;
  const tone = stale ? "warn" : ready ? "good" : "bad";
  return (
    <section className="card">
      <header>
        <h2>{ready ? "Ready for payments" : failed > 0 ? `${failed} checks fail` : "Shutting down"}</h2>
        <span className="state" data-tone={tone} role="status">
          <span>{stale ? "no answer now" : "answered"}</span> <Time at={at} clock />{" "}
          <span>{`in ${Math.round(elapsed)} ms`}</span>
        </span>
      </header>
      <ul className="lines" aria-label="Checks">
        {checks.map(({ name, ok, code }) => {
          const known = CHECKS[name];
          return (
            <li key={name}>
              <span>
                <strong>{known?.title ?? name}</strong>
                <span className="soft small">
                  {known !== undefined && <span>{ok ? known.ok : known.bad}</span>}
                  {!ok && code !== undefined && (
                    <span>
                      {" "}
                      <Verbatim as="code">{code}</Verbatim>
                    </span>
                  )}
                </span>
              </span>
              <span className="state" data-tone={ok ? "good" : "bad"}>
                {ok ? "ok" : "fails"}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

import { useEffect, useState } from "react";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Time } from "../../components/time.tsx";
import { type Failure, failureOf } from "../../errors.ts";
import { useConfig } from "../../hooks/use-config.ts";
import type { Sample } from "../../lib/metrics.ts";
import { readMetrics, readStatus, type ServiceStatus } from "../../lib/service-status.ts";
import "../../styles/views.css";
import { Verbatim } from "../../components/verbatim.tsx";
import { Checks } from "./checks.tsx";
import { Metrics } from "./metrics.tsx";

const LOOK_MS = 5_000;

interface View {
  readonly status: ServiceStatus | undefined;
  readonly metrics: readonly Sample[] | undefined;
  readonly failure: Failure | undefined;
  /** Time of the last response, ms. */
  readonly at: number | undefined;
}

const EMPTY: View = { status: undefined, metrics: undefined, failure: undefined, at: undefined };

function useService(service: string): View {
  const [view, setView] = useState(EMPTY);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    const look = async () => {
      try {
        const [status, metrics] = await Promise.all([readStatus(service), readMetrics(service)]);
        if (current) setView({ status, metrics, failure: undefined, at: Date.now() });
      } catch (error) {
        if (current) setView((known) => ({ ...known, failure: failureOf(error) }));
      }
      if (current) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [service]);
  return view;
}

export default function ServicePage() {
  const { service } = useConfig();
  const { status, metrics, failure, at } = useService(service);
  return (
    <>
      <title>Service · sotto</title>
      <div className="page-head">
        <div>
          <h1>Service</h1>
          <p>Whether the service can verify and settle payments now. This page shows no details of payments.</p>
        </div>
        <Verbatim className="url">{service}</Verbatim>
      </div>
      <div className="stack loose">
        {failure !== undefined && (
          <ErrorMessage error={failure}>
            {at !== undefined && (
              <p className="small">
                The last answer is of <Time at={at} clock />.
              </p>
            )}
          </ErrorMessage>
        )}
        {status === undefined
          ? failure === undefined && (
              <div className="empty card" role="status">
                <span className="spinner" /> Asking the service
              </div>
            )
          : at !== undefined && <Checks status={status} at={at} stale={failure !== undefined} />}
        {status !== undefined && <Metrics samples={metrics} />}
      </div>
    </>
  );
}

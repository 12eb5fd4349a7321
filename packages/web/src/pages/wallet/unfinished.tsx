import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Stages } from "../../components/stages.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { Paid, UnfinishedPayment } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOperationOnce } from "../../hooks/use-operation.ts";
import { Receipt } from "./pay-dialog.tsx";

interface Properties {
  readonly payments: readonly UnfinishedPayment[];
  onResume(payment: UnfinishedPayment): void;
}

/** Payments that a reload or an error interrupted. */
export function Unfinished({ payments, onResume }: Properties) {
  return (
    <section className="card stack" aria-labelledby="unfinished">
      <h2 id="unfinished">Unfinished payments</h2>
      <ul className="lines">
        {payments.map((payment) => (
          <li key={payment.id}>
            <span>
              <strong>
                <Amount value={payment.price} />
              </strong>
              <span className="soft small">
                {/^https?:/.test(payment.resource) ? <Verbatim>{payment.resource}</Verbatim> : "to a phone number"}
              </span>
              <span className="soft small">
                <Time at={payment.created} />, <span>{STATES[payment.state]}</span>
              </span>
            </span>
            <Decision payment={payment} onResume={() => onResume(payment)} />
          </li>
        ))}
      </ul>
      {payments.map(
        ({ id, problem }) => problem !== undefined && <ErrorMessage key={id} error={problem} tone="warn" />,
      )}
    </section>
  );
}

const STATES: Record<UnfinishedPayment["state"], string> = {
  paying: "may be paid",
  paid: "paid, not delivered yet",
  stopped: "paid, and the merchant refuses",
};

function Decision({ payment, onResume }: { readonly payment: UnfinishedPayment; onResume(): void }) {
  const { busy, failure, run } = useAction();
  return (
    <span className="stack tight">
      {payment.state !== "stopped" && payment.resumable && (
        <Button kind="primary" small onClick={onResume}>
          Resume
        </Button>
      )}
      {payment.state !== "paid" && (
        <Button small busy={busy} onClick={() => run(() => engine().dismiss(payment.id))}>
          Dismiss
        </Button>
      )}
      {failure !== undefined && <ErrorMessage error={failure} />}
    </span>
  );
}

/** Resumes a payment when it is first rendered. */
export function ResumeDialog({ payment, onClose }: { readonly payment: UnfinishedPayment; onClose(): void }) {
  const { stages, running, result, failure, cancel } = useOperationOnce<Paid>((name, onProgress) =>
    engine().resume(name, payment.id, onProgress),
  );
  return (
    <Dialog title="Resume the payment" onClose={onClose}>
      {result === undefined ? (
        <>
          <Verbatim as="p" className="url">
            {payment.resource}
          </Verbatim>
          <Stages stages={stages} running={running} />
          {failure !== undefined && <ErrorMessage error={failure} />}
          <div className="dialog-actions">
            {running ? <Button onClick={cancel}>Stop waiting</Button> : <Button onClick={onClose}>Close</Button>}
          </div>
        </>
      ) : (
        <Receipt paid={result} onClose={onClose} />
      )}
    </Dialog>
  );
}

import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, DoneButton } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Stages } from "../../components/stages.tsx";
import { Time } from "../../components/time.tsx";
import type { Engine, WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useOperationOnce } from "../../hooks/use-operation.ts";

export type UnfinishedWithdrawal = WalletView["withdrawals"][number];
export type CashedOut = Awaited<ReturnType<Engine["withdraw"]>>;

interface Properties {
  readonly withdrawals: readonly UnfinishedWithdrawal[];
  onResume(withdrawal: UnfinishedWithdrawal): void;
}

/** Withdrawals that a reload, an error or the user interrupted. */
export function UnfinishedWithdrawals({ withdrawals, onResume }: Properties) {
  return (
    <section className="card stack" aria-labelledby="unfinished-withdrawals">
      <h2 id="unfinished-withdrawals">Unfinished withdrawals</h2>
      <ul className="lines">
        {withdrawals.map((withdrawal) => (
          <li key={withdrawal.id}>
            <span>
              <strong>
                <Amount value={withdrawal.amount} />
              </strong>
              <span className="soft small">
                to <Hash value={withdrawal.recipient} name="recipient" />
              </span>
              <span className="soft small">
                <Time at={withdrawal.created} />, <span>{stateOf(withdrawal)}</span>
              </span>
            </span>
            {!withdrawal.inProgress && (
              <Button kind="primary" small onClick={() => onResume(withdrawal)}>
                Resume
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function stateOf({ inProgress, transaction, proved }: UnfinishedWithdrawal): string {
  if (inProgress) return "being submitted";
  if (transaction !== undefined) return "executed";
  return proved ? "may be executed" : "not proved yet";
}

/** The outcome of a withdrawal. */
export function Withdrawn({ done, onClose }: { readonly done: CashedOut; onClose(): void }) {
  return (
    <>
      <div className="notice" data-tone="good" role="status">
        <p>
          <strong>
            Withdrew <Amount value={done.amount} />
          </strong>
        </p>
        {done.resumed && <p>It was started before, and executed once.</p>}
        <p className="row">
          Transaction <Hash value={done.transaction} name="transaction" />
        </p>
      </div>
      <DoneButton onClose={onClose} />
    </>
  );
}

interface ResumeProperties {
  readonly withdrawal: UnfinishedWithdrawal;
  onClose(): void;
}

/** Resumes a withdrawal when it is first rendered. */
export function ResumeWithdrawalDialog({ withdrawal, onClose }: ResumeProperties) {
  const { stages, running, result, failure, cancel } = useOperationOnce<CashedOut>((name, onProgress) =>
    engine().resumeWithdrawal(name, withdrawal.id, onProgress),
  );
  return (
    <Dialog title="Resume the withdrawal" onClose={onClose}>
      <Stages stages={stages} running={running} />
      {failure !== undefined && <ErrorMessage error={failure} />}
      {result === undefined ? (
        <div className="dialog-actions">
          {running ? <Button onClick={cancel}>Stop waiting</Button> : <Button onClick={onClose}>Close</Button>}
        </div>
      ) : (
        <Withdrawn done={result} onClose={onClose} />
      )}
    </Dialog>
  );
}

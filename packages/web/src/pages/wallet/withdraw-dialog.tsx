import { useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Stages } from "../../components/stages.tsx";
import type { WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOperation } from "../../hooks/use-operation.ts";
import { readAmount } from "../../lib/amount.ts";
import { type CashedOut, Withdrawn } from "./unfinished-withdrawals.tsx";

/** Turns notes into tokens of an Ethereum account. The relayer sends the withdrawal and pays the gas. */
export function WithdrawDialog({ wallet, onClose }: { readonly wallet: WalletView; onClose(): void }) {
  const [recipient, setRecipient] = useState("");
  const [amount, setAmount] = useState("");
  const reading = useAction();
  const { stages, running, result, failure, run, cancel } = useOperation<CashedOut>();
  const withdraw = () =>
    reading.run(async () => {
      const base = readAmount(amount);
      run((name, onProgress) => engine().withdraw(name, recipient, base, onProgress));
    });
  return (
    <Dialog title="Withdraw" onClose={onClose}>
      <Form className="stack" onSubmit={() => withdraw()}>
        <Field
          label="To the account"
          required
          placeholder="0x…"
          spellCheck={false}
          autoComplete="off"
          value={recipient}
          onChange={setRecipient}
        />
        <Field label="Amount" inputMode="decimal" unit="USDC" required value={amount} onChange={setAmount} />
        <p className="small soft">
          Spendable: <Amount value={wallet.balance.spendable} />. The chain shows the amount and the account.
          Withdrawing to the account that deposited, or exactly what was deposited, links the two.
        </p>
        {wallet.withdrawals.map(({ id, amount: open, recipient: to }) => (
          <div key={id} className="notice" data-tone="warn" role="status">
            <p>
              A withdrawal of <Amount value={open} /> to <Hash value={to} name="recipient" /> is unfinished. Withdrawing
              the same amount to the same account resumes it; nothing is withdrawn twice.
            </p>
          </div>
        ))}
        {stages.length > 0 && <Stages stages={stages} running={running} />}
        {(failure ?? reading.failure) !== undefined && <ErrorMessage error={failure ?? reading.failure} />}
        {result === undefined ? (
          <div className="dialog-actions">
            {running ? (
              <Button onClick={cancel}>Stop waiting</Button>
            ) : (
              <Button kind="primary" type="submit">
                Withdraw
              </Button>
            )}
          </div>
        ) : (
          <Withdrawn done={result} onClose={onClose} />
        )}
      </Form>
    </Dialog>
  );
}

import { useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Stages } from "../../components/stages.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { FoundNumber, Paid, WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOperation } from "../../hooks/use-operation.ts";
import { readAmount } from "../../lib/amount.ts";
import { Receipt } from "./pay-dialog.tsx";

/** Pays the wallet linked to a phone number, after showing the user which wallet it is. */
export function PhoneDialog({ wallet, onClose }: { readonly wallet: WalletView; onClose(): void }) {
  const [phone, setPhone] = useState("");
  const [amount, setAmount] = useState("");
  const [found, setFound] = useState<{ readonly number: FoundNumber; readonly amount: bigint }>();
  const finding = useAction();
  const { stages, running, result, failure, run, cancel } = useOperation<Paid>();
  if (result !== undefined)
    return (
      <Dialog title="Pay a phone number" onClose={onClose}>
        <Receipt paid={result} onClose={onClose} />
      </Dialog>
    );
  const find = () =>
    finding.run(async () => {
      const base = readAmount(amount);
      setFound({ number: await engine().findNumber(phone), amount: base });
    });
  if (found === undefined)
    return (
      <Dialog title="Pay a phone number" onClose={onClose}>
        <Form className="stack" onSubmit={() => find()}>
          <Field
            label="Phone number"
            type="tel"
            required
            placeholder="+49 1511 2345678"
            hint="With + and country code."
            value={phone}
            onChange={setPhone}
          />
          <Field label="Amount" inputMode="decimal" unit="USDC" required value={amount} onChange={setAmount} />
          {finding.failure !== undefined && <ErrorMessage error={finding.failure} />}
          <div className="dialog-actions">
            <Button kind="primary" type="submit" busy={finding.busy}>
              Continue
            </Button>
          </div>
        </Form>
      </Dialog>
    );
  const { number } = found;
  return (
    <Dialog title="Pay a phone number" onClose={onClose}>
      <div className="price">
        <Amount value={found.amount} large />
        <p className="url">
          to <Verbatim>{number.phone}</Verbatim>
        </p>
      </div>
      <dl className="facts">
        <dt>Its wallet</dt>
        <dd>
          <Hash value={number.wallet} name="wallet" />
        </dd>
        <dt>Left of today's limit</dt>
        <dd>
          <Amount
            value={wallet.limits.maxPerDay > wallet.spentToday ? wallet.limits.maxPerDay - wallet.spentToday : 0n}
          />
        </dd>
      </dl>
      {number.standing === "changed" && (
        <div className="notice" data-tone="warn" role="alert">
          <p>
            This number used to lead to a different wallet: its holder changed it, or someone else took over the number.
            Ask the holder through another channel before you pay.
          </p>
        </div>
      )}
      {number.standing === "new" && (
        <p className="small soft">
          This is your first payment to this number. The wallet remembers which wallet it leads to.
        </p>
      )}
      {stages.length > 0 && <Stages stages={stages} running={running} />}
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="dialog-actions">
        {running ? (
          <Button onClick={cancel}>Stop waiting</Button>
        ) : (
          <>
            <Button onClick={() => setFound(undefined)}>Back</Button>
            <Button
              kind={number.standing === "changed" ? "danger" : "primary"}
              onClick={() => run((name, onProgress) => engine().payNumber(name, number, found.amount, onProgress))}
            >
              Pay <Amount value={found.amount} />
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}

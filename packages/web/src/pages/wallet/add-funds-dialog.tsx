import { useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog, DoneButton } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Stages } from "../../components/stages.tsx";
import type { WalletView } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { signerOf, useInjectedWallets } from "../../hooks/page-signer.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { useOperation } from "../../hooks/use-operation.ts";
import { readAmount } from "../../lib/amount.ts";
import { AccountChoice, TEST_ACCOUNT } from "./account-choice.tsx";

/**
 * Turns tokens of an Ethereum account into private notes. The account signs the deposit; the service sends it and pays
 * the gas.
 */
export function AddFundsDialog({ wallet, onClose }: { readonly wallet: WalletView; onClose(): void }) {
  const { faucet } = useConfig();
  const wallets = useInjectedWallets();
  const [account, setAccount] = useState(TEST_ACCOUNT);
  const [amount, setAmount] = useState("20");
  const dripping = useAction();
  const reading = useAction();
  const { stages, running, result, failure, run, cancel } = useOperation<true>();
  const { tokens } = wallet.account;
  const deposit = () =>
    reading.run(async () => {
      const base = readAmount(amount);
      const chosen = wallets.find(({ info }) => info.rdns === account);
      const signer = chosen === undefined ? undefined : signerOf(chosen);
      run((name, onProgress) =>
        engine()
          .deposit(name, base, signer, onProgress)
          .then(() => true),
      );
    });
  if (result !== undefined)
    return (
      <Dialog title="Add funds" onClose={onClose}>
        <Stages stages={stages} running={false} />
        <p className="small soft">
          Your notes are in the pool. The chain shows this deposit, but not what you pay with it.
        </p>
        <DoneButton onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog title="Add funds" onClose={onClose}>
      <Form className="stack" onSubmit={() => deposit()}>
        <AccountChoice value={account} onChange={setAccount} />
        {account === TEST_ACCOUNT && (
          <div className="notice stack tight">
            <div className="row between">
              <span>
                Holds <strong>{tokens === undefined ? "…" : <Amount value={tokens} />}</strong>
              </span>
              <Hash value={wallet.account.address} name="test account's address" />
            </div>
            {faucet !== undefined && (
              <div className="row">
                <Button small busy={dripping.busy} onClick={() => dripping.run(() => engine().drip())}>
                  Get test USDC
                </Button>
                <span className="small soft">from this local chain's faucet; worth nothing</span>
              </div>
            )}
            {dripping.failure !== undefined && <ErrorMessage error={dripping.failure} />}
          </div>
        )}
        <Field
          label="Amount"
          inputMode="decimal"
          unit="USDC"
          required
          hint="The chain shows the amount and the account of a deposit. Payments from it are private."
          value={amount}
          onChange={setAmount}
        />
        {stages.length > 0 && <Stages stages={stages} running={running} />}
        {(failure ?? reading.failure) !== undefined && <ErrorMessage error={failure ?? reading.failure} />}
        <div className="dialog-actions">
          {running ? (
            <Button onClick={cancel}>Stop waiting</Button>
          ) : (
            <Button kind="primary" type="submit">
              Sign and deposit
            </Button>
          )}
        </div>
      </Form>
    </Dialog>
  );
}

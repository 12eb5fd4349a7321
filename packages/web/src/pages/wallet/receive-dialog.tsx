import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Field } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Hash } from "../../components/hash.tsx";
import { Qr } from "../../components/qr.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { engine } from "../../engine/page.ts";
import { signerOf, useInjectedWallets } from "../../hooks/page-signer.ts";
import { useAction } from "../../hooks/use-action.ts";
import { AccountChoice, TEST_ACCOUNT } from "./account-choice.tsx";

/** The wallet's shielded address, and the phone number linked to it. */
export function ReceiveDialog({ address, onClose }: { readonly address: string; onClose(): void }) {
  return (
    <Dialog title="Receive" onClose={onClose}>
      <Qr text={address} label="QR code of your shielded address" />
      <div className="stack tight">
        <h3>Your shielded address</h3>
        <Hash value={address} name="shielded address" full />
        <p className="small soft">Anyone can pay to it. The chain shows neither that you were paid nor how much.</p>
      </div>
      <details>
        <summary>Be paid by phone number</summary>
        <LinkNumber />
      </details>
    </Dialog>
  );
}

type Step = { readonly phone: string; readonly wallet: string; readonly proven: boolean };

function LinkNumber() {
  const wallets = useInjectedWallets();
  const [phone, setPhone] = useState("");
  const [code, setCode] = useState("");
  const [account, setAccount] = useState(TEST_ACCOUNT);
  const [step, setStep] = useState<Step>();
  const { busy, failure, run } = useAction();
  if (step?.proven === true)
    return (
      <div className="notice" data-tone="good" role="status">
        <p>
          <Verbatim>{step.phone}</Verbatim> leads to this wallet now.
        </p>
      </div>
    );
  const link = async () => {
    const chosen = wallets.find(({ info }) => info.rdns === account);
    const signer = chosen === undefined ? undefined : signerOf(chosen);
    setStep({ ...(await engine().linkNumber(phone, signer)), proven: false });
  };
  const prove = async ({ phone, wallet }: Step) => {
    await engine().proveNumber({ phone, wallet }, code);
    setStep({ phone, wallet, proven: true });
  };
  return (
    <Form className="stack" onSubmit={() => run(() => (step === undefined ? link() : prove(step)))}>
      {step === undefined ? (
        <>
          <Field
            label="Your phone number"
            type="tel"
            required
            placeholder="+49 1511 2345678"
            hint="With + and country code. The registry sends a code to it."
            value={phone}
            onChange={setPhone}
          />
          <AccountChoice value={account} onChange={setAccount} />
          <p className="small soft">The account signs that your shielded address belongs to the number.</p>
        </>
      ) : (
        <Field
          label={`Code sent to ${step.phone}`}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          value={code}
          onChange={setCode}
        />
      )}
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="dialog-actions">
        <Button kind="primary" type="submit" busy={busy}>
          {step === undefined ? "Sign and send the code" : "Confirm the code"}
        </Button>
      </div>
    </Form>
  );
}
